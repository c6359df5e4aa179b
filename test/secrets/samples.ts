/**
 * Texts that hold a secret, and what the secret is. None was ever valid: each is put together here, so that no scanner of
 * repositories takes this file for a leak.
 */
const drawn = (
  length: number,
  from = 'abcdefghijkmnopqrstuvwxyzABCDEFGHJKLMNPQRSTUVWXYZ23456789',
  seed = 7,
): string => {
  let state = seed
  let out = ''
  while (out.length < length) {
    state = (state * 1103515245 + 12345) % 2147483648
    out += from[Math.floor((state / 2147483648) * from.length)]
  }
  return out
}

const hex = (length: number, seed = 3): string => drawn(length, '0123456789abcdef', seed)
const capitals = (length: number): string => drawn(length, 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567', 11)

/** [what the text is, the text before the secret, the secret, the text after it, its kind]. */
export const secretSamples: readonly (readonly [string, string, string, string, string])[] = [
  ['an Anthropic key', 'export ANTHROPIC_API_KEY=', `sk-ant-api03-${drawn(93)}AA`, '\n', 'anthropic-key'],
  ['a short Anthropic key', 'key is ', `sk-ant-${drawn(40)}`, '.', 'anthropic-key'],
  [
    'an OpenAI project key',
    'use ',
    `sk-proj-${drawn(74)}T3BlbkFJ${drawn(74, undefined, 9)}`,
    ' please',
    'openai-key',
  ],
  ['an old OpenAI key', '"', `sk-${drawn(48)}`, '"', 'openai-key'],
  ['a GitHub token', 'remote: https://', `ghp_${drawn(36)}`, '@github.com/a/b.git', 'github-token'],
  ['a fine-grained GitHub token', 'GH_TOKEN=', `github_pat_${drawn(22)}_${drawn(59)}`, '', 'github-token'],
  [
    'a GitHub token after an escaped newline',
    '{"output":"token:\\n',
    `gho_${drawn(36)}`,
    '\\n"}',
    'github-token',
  ],
  ['a GitLab token', 'PRIVATE-TOKEN: ', `glpat-${drawn(20)}`, '', 'gitlab-token'],
  ['an AWS key id in a dump', 'AWS_ACCESS_KEY_ID=', `AKIA${capitals(16)}`, '\n', 'aws-access-key'],
  [
    'an AWS secret in a dump',
    'AWS_SECRET_ACCESS_KEY=',
    `${drawn(20)}/${drawn(19, undefined, 5)}`,
    '\n',
    'secret',
  ],
  ['a Google key', '?key=', `AIza${drawn(35)}`, '&q=1', 'google-api-key'],
  [
    'a Slack token',
    'token ',
    `xoxb-${drawn(12, '0123456789')}-${drawn(12, '0123456789', 2)}-${drawn(24)}`,
    '',
    'slack-token',
  ],
  [
    'a Slack webhook',
    'curl ',
    `https://hooks.slack.com/services/T${capitals(8)}/B${capitals(8)}/${drawn(24)}`,
    ' -d x',
    'slack-webhook',
  ],
  ['an npm token', '//registry.npmjs.org/:_authToken=', `npm_${drawn(36)}`, '\n', 'npm-token'],
  ['a Stripe key', 'stripe: ', `sk_live_${drawn(24)}`, '', 'stripe-key'],
  ['a JWT', 'cookie: session=', `eyJ${drawn(30)}.eyJ${drawn(80)}.${drawn(43)}`, ';', 'jwt'],
  ['a bearer token', "curl -H 'Authorization: Bearer ", drawn(40), "'", 'authorization'],
  ['basic authorization', 'Authorization: Basic ', `${drawn(22)}==`, '\r\n', 'authorization'],
  ['a header in JSON', '{"x-api-key":"', hex(40), '"}', 'authorization'],
  ['a database URL', 'DATABASE_URL=postgres://app:', 'Tr0ub4dor&3', '@db.internal:5432/app', 'url-password'],
  ['a Redis URL without a user', 'redis://:', 'p4ssw0rdOfMine', '@cache:6379/0', 'url-password'],
  ['a password in an env file', 'DB_PASSWORD=', 'c0rrect-horse', '\n', 'password'],
  ['a quoted password in YAML', 'password: "', 'Winter2024!', '"', 'password'],
  ['a password in JSON', '{"user":"joe","password":"', 'b4tteryStaple', '"}', 'password'],
  [
    'a password in JSON in a string',
    '{"arguments":"{\\"password\\":\\"',
    'b4tteryStaple',
    '\\"}"}',
    'password',
  ],
  ['a secret in an env file', 'SESSION_SECRET=', hex(64), '\n', 'secret'],
  ['a token in an env file', 'DEPLOY_TOKEN=', drawn(32), '\n', 'secret'],
  ['an api key in code', 'const client = new Client({ apiKey: "', drawn(32), '" })', 'secret'],
  ['a private key', 'cat id_rsa\n', pem('\n'), '\n$ ', 'private-key'],
  ['a private key in JSON', '{"private_key":"', pem('\\n'), '\\n"}', 'private-key'],
  ['a private key that was cut off', 'head id_rsa\n', pem('\n').slice(0, 400), '', 'private-key'],
]

function pem(newline: string): string {
  const body = Array.from({ length: 20 }, (_, index) => drawn(64, undefined, index + 1))
  return ['-----BEGIN OPENSSH PRIVATE KEY-----', ...body, '-----END OPENSSH PRIVATE KEY-----'].join(newline)
}

/** What looks like a secret and is none. */
export const innocentSamples: readonly (readonly [string, string])[] = [
  ['a git object', `commit ${hex(40)}\nindex ${hex(7)}..${hex(7, 5)} 100644`],
  ['a SHA-256', `sha256:${hex(64)}  package.tgz`],
  ['an integrity hash', `"integrity": "sha512-${drawn(86)}=="`],
  ['an event and its parent', `{"id":"${hex(32)}","parent":"${hex(32, 5)}","at":"2026-12-01T09:00:01.000Z"}`],
  ['a UUID', 'sessionId: 0199a213-81c0-7800-8aa1-bbab2a035a53'],
  ['a UUID under a name', '"tokenKey": "0199a213-81c0-7800-8aa1-bbab2a035a53"'],
  ['a thinking signature', `{"type":"thinking","thinking":"","signature":"EqQB${drawn(400)}=="}`],
  ['encrypted reasoning', `{"type":"reasoning","encrypted_content":"gAAAAAB${drawn(900)}"}`],
  ['an image', `data:image/png;base64,iVBORw0KGgo${drawn(3000)}`],
  ['a token inside of base64', `${drawn(200)}AKIA${capitals(16)}${drawn(200)}`],
  ['a documented AWS key', 'AKIAIOSFODNN7EXAMPLE wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY'],
  ['a placeholder of a key', 'OPENAI_API_KEY=sk-your-key-here-please-replace-it-1'],
  ['a placeholder in brackets', 'ANTHROPIC_API_KEY=<your-anthropic-key-12345>'],
  ['a variable', 'Authorization: Bearer ${process.env.GITHUB_TOKEN}'],
  ['a template', 'password: "{{ vault.db_password_1 }}"'],
  ['a shell variable', 'PGPASSWORD=$DB_PASSWORD1 psql'],
  ['a call', 'const password = readPassword(prompt1)'],
  ['a type', 'password: string; token?: string; apiKey: string | undefined'],
  ['a sentence', 'The password: something only you know, at least 8 characters.'],
  ['the password of every tutorial', 'postgres://postgres:postgres@localhost:5432/postgres'],
  ['another of them', 'mysql://user:password@localhost/db'],
  ['a count', '"max_tokens": 4096000000, "total_tokens": 123456789'],
  ['a page token', 'nextPageToken: "CAUQAA9fK3mZ2QpL7xW4"'],
  ['a cache key', 'cacheKey = "npm-linux-x64-node20-9fK3mZ2QpL7xW4"'],
  ['a public key', 'ssh-rsa AAAAB3NzaC1yc2EAAAADAQABAAABgQ= public_key: "9fK3mZ2QpL7xW4aa1"'],
  ['a header of a key alone', "grep -r '-----BEGIN RSA PRIVATE KEY-----' ."],
  ['a key by its file', 'SSL_KEY=/etc/ssl/private/server-2024.key'],
  ['a model', '"key": "claude-3-5-sonnet-20241022"'],
  ['a class name', 'class="sk-circle-fade-dot sk-folding-cube-2"'],
  ['what was redacted before', 'password: "[redacted: password]" and Bearer [redacted: authorization]'],
]
