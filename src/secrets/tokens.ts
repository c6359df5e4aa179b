import { isPlaceholder, isRandom } from './innocent.js'
import type { Secret } from './secret.js'

/** A token known by its own shape. */
interface Shape {
  readonly kind: string
  readonly pattern: RegExp
  /** What else the part after the prefix must be. */
  readonly when?: (token: string) => boolean
}

const afterPrefix = (token: string): string =>
  token.replace(/^[a-z]{1,6}[-_](?:[a-z]{1,8}(?:\d\d)?[-_]|v1[-_]|or-v1-)?/i, '')

/** Every pattern begins with a literal and has bounded or single-class repetitions: its time is linear in the text. */
const shapes: readonly Shape[] = [
  { kind: 'anthropic-key', pattern: /sk-ant-[\w-]{20,256}/g },
  {
    kind: 'openai-key',
    pattern: /sk-(?!ant-)(?:proj-|svcacct-|admin-|or-v1-)?[\w-]{20,256}/g,
    when: (token) => isRandom(afterPrefix(token)),
  },
  { kind: 'github-token', pattern: /gh[pousr]_[A-Za-z0-9]{36,255}|github_pat_\w{50,255}/g },
  { kind: 'gitlab-token', pattern: /gl(?:pat|dt|rt|cbt|ptt|agent|soat)-[\w-]{20,255}/g },
  { kind: 'aws-access-key', pattern: /(?:AKIA|ASIA)[A-Z0-9]{16}(?![A-Za-z0-9+/])/g },
  { kind: 'google-api-key', pattern: /AIza[\w-]{35}(?![\w-])/g },
  { kind: 'google-oauth', pattern: /ya29\.[\w-]{20,1024}|GOCSPX-[\w-]{28}(?![\w-])|1\/\/0[\w-]{40,}/g },
  { kind: 'slack-token', pattern: /xox[abeoprs]-[A-Za-z0-9-]{10,255}|xapp-\d-[A-Za-z0-9-]{20,255}/g },
  { kind: 'slack-webhook', pattern: /https:\/\/hooks\.slack\.com\/(?:services|workflows)\/[\w/]{20,255}/g },
  {
    kind: 'discord-webhook',
    pattern: /https:\/\/(?:canary\.|ptb\.)?discord(?:app)?\.com\/api\/webhooks\/\d{15,20}\/[\w-]{60,80}/g,
  },
  { kind: 'npm-token', pattern: /npm_[A-Za-z0-9]{36}(?![A-Za-z0-9])/g },
  { kind: 'pypi-token', pattern: /pypi-AgE[\w-]{50,1024}/g },
  { kind: 'stripe-key', pattern: /[sr]k_(?:live|test)_[A-Za-z0-9]{16,255}|whsec_[A-Za-z0-9+/=]{24,255}/g },
  { kind: 'sendgrid-key', pattern: /SG\.[\w-]{16,64}\.[\w-]{16,64}/g },
  { kind: 'hugging-face-token', pattern: /hf_[A-Za-z0-9]{30,64}/g, when: isRandom },
  {
    kind: 'model-provider-key',
    pattern: /(?:gsk_|xai-|pplx-|r8_|nvapi-|tvly-|fw_|csk-)[\w-]{24,255}/g,
    when: (token) => isRandom(afterPrefix(token)),
  },
  { kind: 'digitalocean-token', pattern: /do[opr]_v1_[a-f0-9]{64}/g },
  { kind: 'vault-token', pattern: /hv[sbr]\.[\w-]{24,1024}/g, when: isRandom },
  { kind: 'age-key', pattern: /AGE-SECRET-KEY-1[0-9A-Z]{58}/g },
  { kind: 'shopify-token', pattern: /shp(?:pa|ca|at|ss)_[a-fA-F0-9]{32,64}/g },
  { kind: 'jwt', pattern: /(?<=^|[^\w-]|\\[nrt])eyJ[\w-]{10,4096}\.eyJ[\w-]{10,16384}\.[\w-]{10,2048}/g },
]

/**
 * A token begins where no word goes on: not inside a run of base64, as images and signatures are. In JSON text the
 * character before it may be the letter of an escape (`\n`).
 */
export const startsToken = (text: string, start: number): boolean => {
  const before = text[start - 1] ?? ' '
  if (!/[A-Za-z0-9_-]/.test(before)) return true
  return /[nrtbf]/.test(before) && text[start - 2] === '\\'
}

/** Tokens that show by their shape what they are. */
export const tokensIn = (text: string): Secret[] =>
  shapes.flatMap(({ kind, pattern, when }) =>
    [...text.matchAll(pattern)].flatMap(({ index, 0: token }) =>
      startsToken(text, index) && !isPlaceholder(token) && (when === undefined || when(token))
        ? [{ start: index, end: index + token.length, kind }]
        : [],
    ),
  )

const keyBlock =
  /-----BEGIN [A-Z0-9 ]{0,30}PRIVATE KEY(?: BLOCK)?-----([^-]{40,20000}-----END [A-Z0-9 ]{0,30}PRIVATE KEY(?: BLOCK)?-----|[A-Za-z0-9+/=\s\\]{40,20000})/g

/** Private keys in PEM, whole or cut off, as a file or escaped in JSON; a header alone is none. */
export const privateKeysIn = (text: string): Secret[] =>
  [...text.matchAll(keyBlock)].flatMap(({ index, 0: block, 1: body = '' }) =>
    /[A-Za-z0-9+/=]{32}/.test(body) && !isPlaceholder(body)
      ? [{ start: index, end: index + block.trimEnd().length, kind: 'private-key' }]
      : [],
  )
