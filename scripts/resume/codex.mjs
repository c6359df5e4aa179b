// @ts-check
/**
 * Resumes sessions that Coppice wrote for Codex in Codex itself, with a server in the place of its model, and holds the
 * history that the server is sent against what Coppice says the model gets.
 */
import { spawn } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Carrying, joined, told, toldCall, toldIn, wordsIn } from './carried.mjs'
import { packageAt, versionAt } from './package-at.mjs'

const prompt = 'Go on, please.'

/**
 * @typedef {{ type: string, role?: string, content?: unknown, name?: string, arguments?: string, input?: string,
 *   output?: unknown }} Item
 */

/** Answers every request with one message. @param {Item[][]} asked where the input of each is put */
const modelServer = (asked) =>
  createServer((request, response) => {
    /** @type {Buffer[]} */
    const pieces = []
    request.on('data', (piece) => pieces.push(piece))
    request.on('end', () => {
      if (request.method !== 'POST' || !request.url?.endsWith('/responses')) {
        response.writeHead(404).end('{}')
        return
      }
      asked.push(JSON.parse(Buffer.concat(pieces).toString()).input)
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      for (const event of answer) response.write(`event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`)
      response.end()
    })
  })

const usage = {
  input_tokens: 1,
  input_tokens_details: { cached_tokens: 0 },
  output_tokens: 1,
  total_tokens: 2,
}
const answer = [
  { type: 'response.created', response: { id: 'resp_1' } },
  {
    type: 'response.output_item.done',
    output_index: 0,
    item: {
      type: 'message',
      id: 'msg_1',
      role: 'assistant',
      content: [{ type: 'output_text', text: 'Done.', annotations: [] }],
    },
  },
  {
    type: 'response.completed',
    response: { id: 'resp_1', usage: { ...usage, output_tokens_details: { reasoning_tokens: 0 } } },
  },
]

/** Codex looks into images; those of the fixtures are none. */
const noImage = 'image content omitted because it could not be processed'

/** What a request tells of the session: not what Codex itself puts in. @param {readonly Item[]} input */
const toldBy = (input) =>
  input.flatMap(({ type, role, content, name = '', arguments: text, input: given, output }) => {
    if (type === 'message')
      return role === 'user' || role === 'assistant'
        ? told(role, wordsIn(content).replaceAll(noImage, ''))
        : []
    if (type === 'function_call' || type === 'custom_tool_call') return toldCall(name, text ?? given ?? '')
    return type.endsWith('_output') ? told('result', wordsIn(output)) : []
  })

/** @param {string} home @param {number} port */
const configure = (home, port) => {
  const folder = join(home, '.codex')
  mkdirSync(folder, { recursive: true })
  const url = `"http://127.0.0.1:${port}/v1"`
  const lines = [
    'model = "gpt-5.2"',
    'model_provider = "mock"',
    'approval_policy = "never"',
    'sandbox_mode = "read-only"',
    `openai_base_url = ${url}`,
    '[features]',
    'enable_request_compression = false',
    '[model_providers.mock]',
    'name = "mock"',
    `base_url = ${url}`,
    'wire_api = "responses"',
    'env_key = "CODEX_API_KEY"',
  ]
  writeFileSync(join(folder, 'config.toml'), `${lines.join('\n')}\n`)
}

/** Codex's own sessions name their provider, and are resumed with no other. */
const asOwn = ['-c', 'model_provider="openai"']

/**
 * @param {string[]} program
 * @param {string} thread
 * @param {Carrying} carrying
 * @returns {Promise<void>}
 */
const resume = (program, thread, { workspace, env }) =>
  new Promise((resolve, reject) => {
    const args = [...program, 'exec', '--skip-git-repo-check', 'resume', thread, prompt]
    const codex = spawn(process.execPath, args, {
      cwd: workspace,
      env: { ...env, CODEX_API_KEY: 'none' },
      stdio: ['ignore', 'ignore', 'pipe'],
      timeout: 120_000,
    })
    let said = ''
    codex.stderr.on('data', (piece) => {
      said += piece
    })
    codex.on('error', reject)
    codex.on('close', (code) =>
      code === 0 ? resolve() : reject(new Error(`codex ended with ${code}: ${said}`)),
    )
  })

/** Gives one line of what was shown; throws where it does not hold. */
export const check = async () => {
  const codex = packageAt('@openai/codex', 'latest')
  const folder = mkdtempSync(join(tmpdir(), 'coppice-codex-resume-'))
  /** @type {Item[][]} */
  const asked = []
  const server = modelServer(asked)
  try {
    await new Promise((resolve) => server.listen(0, '127.0.0.1', () => resolve(null)))
    const carrying = new Carrying(folder)
    configure(carrying.home, /** @type {import('node:net').AddressInfo} */ (server.address()).port)
    const rows = carrying.sessions()
    let count = 0
    for (const { session, origin } of rows) {
      const wanted = joined(toldIn(carrying.context(session)))
      if (wanted.length === 0) continue
      const { resume: command } = carrying.coppice('export', session, 'codex', '--install', '--no-redact')
      asked.length = 0
      const program = [join(codex, 'bin/codex.js'), ...(origin?.format === 'codex' ? asOwn : [])]
      await resume(program, command.split(' ').at(-1), carrying)
      holds(session, wanted, toldBy(asked[0] ?? []))
      count += wanted.length
    }
    return `Codex ${versionAt(codex)} resumed ${rows.length} sessions: its model got all ${count} pieces of their histories`
  } finally {
    server.close()
    rmSync(folder, { recursive: true, force: true })
  }
}

/**
 * The history comes whole and in order; after it what Codex says of its surroundings, and the new prompt.
 * @param {string} session
 * @param {readonly string[]} wanted
 * @param {readonly string[]} found
 */
const holds = (session, wanted, found) => {
  const given = joined(found)
  for (const [i, one] of wanted.entries()) {
    const other = given[i]
    const isLast = i === wanted.length - 1
    if (other === one || (isLast && other?.startsWith(one) === true)) continue
    throw new Error(
      `session ${session}: ${i + 1} of ${wanted.length} should be\n  ${one}\nbut is\n  ${other}`,
    )
  }
  if (given.at(-1)?.endsWith(prompt.replaceAll(' ', '')) !== true)
    throw new Error(`session ${session}: the new prompt is not the last`)
}
