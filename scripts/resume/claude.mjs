// @ts-check
/**
 * Resumes sessions that Coppice wrote for Claude Code in Claude Code itself, with a server in the place of its model, and
 * holds the history that the server is sent against what Coppice says the model gets.
 */
import { spawn } from 'node:child_process'
import { cpSync, mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { Carrying, joined, told, toldCall, toldIn, wordsIn } from './carried.mjs'
import { composed } from './composed.mjs'
import { packageAt, versionAt } from './package-at.mjs'

/** The last version whose package is one program that Node 20 runs. */
const version = '2.1.112'
const prompt = 'Go on, please.'

/**
 * @typedef {{ type: string, text?: string, name?: string, input?: unknown, content?: unknown }} Block
 * @typedef {{ role: string, content: string | Block[] }} Message
 */

/** Answers every request with one message. @param {Message[][]} asked where the messages of each are put */
const modelServer = (asked) =>
  createServer((request, response) => {
    /** @type {Buffer[]} */
    const pieces = []
    request.on('data', (piece) => pieces.push(piece))
    request.on('end', () => {
      if (request.method !== 'POST' || !/\/messages(\?|$)/.test(request.url ?? '')) {
        response.writeHead(404, { 'content-type': 'application/json' }).end('{}')
        return
      }
      const { messages, stream } = JSON.parse(Buffer.concat(pieces).toString())
      asked.push(messages)
      if (stream !== true) {
        response.writeHead(200, { 'content-type': 'application/json' })
        response.end(JSON.stringify({ ...message, content: [{ type: 'text', text: 'Done.' }] }))
        return
      }
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      for (const event of answer) response.write(`event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`)
      response.end()
    })
  })

const message = {
  id: 'msg_1',
  type: 'message',
  role: 'assistant',
  model: 'claude-sonnet-4-5',
  content: [],
  stop_reason: 'end_turn',
  stop_sequence: null,
  usage: { input_tokens: 1, output_tokens: 1 },
}
const answer = [
  { type: 'message_start', message: { ...message, stop_reason: null } },
  { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
  { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'Done.' } },
  { type: 'content_block_stop', index: 0 },
  {
    type: 'message_delta',
    delta: { stop_reason: 'end_turn', stop_sequence: null },
    usage: { output_tokens: 1 },
  },
  { type: 'message_stop' },
]

/** What Claude Code puts in by itself. */
const reminder = /<system-reminder>[\s\S]*?<\/system-reminder>\s*/g
const ownWords = new Set(['Continuefromwhereyouleftoff.', 'Noresponserequested.', '[Noresponserequested]'])

/** What a request tells of the session. @param {readonly Message[]} messages */
const toldBy = (messages) => {
  const found = messages.flatMap(({ role, content }) =>
    (typeof content === 'string' ? [{ type: 'text', text: content }] : content).flatMap((block) => {
      if (block.type === 'tool_use') return toldCall(block.name ?? '', JSON.stringify(block.input))
      if (block.type === 'tool_result') return told('result', wordsIn(block.content))
      return block.type === 'text' ? told(role, (block.text ?? '').replaceAll(reminder, '')) : []
    }),
  )
  return found.filter((one) => !ownWords.has(one.slice(one.indexOf(' ') + 1)))
}

/**
 * @param {string} program
 * @param {string} session
 * @param {Carrying} carrying
 * @param {number} port
 * @returns {Promise<void>}
 */
const resume = (program, session, { workspace, env }, port) =>
  new Promise((resolve, reject) => {
    const args = [program, '-p', prompt, '--resume', session, '--output-format', 'json']
    const claude = spawn(process.execPath, args, {
      cwd: workspace,
      env: {
        ...env,
        ANTHROPIC_BASE_URL: `http://127.0.0.1:${port}`,
        ANTHROPIC_API_KEY: 'none',
        CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
        DISABLE_AUTOUPDATER: '1',
      },
      stdio: ['ignore', 'pipe', 'pipe'],
      timeout: 120_000,
    })
    let said = ''
    for (const stream of [claude.stdout, claude.stderr])
      stream.on('data', (piece) => {
        said += piece
      })
    claude.on('error', reject)
    claude.on('close', (code) =>
      code === 0 ? resolve() : reject(new Error(`claude ended with ${code}: ${said.slice(0, 2000)}`)),
    )
  })

/** Claude Code resumes a session only where it took place, and those places are not here. @param {string} path @param {Carrying} carrying */
const bring = (path, { workspace }) => {
  const here = join(dirname(dirname(path)), realpathSync(workspace).replaceAll(/[^A-Za-z0-9]/g, '-'))
  if (dirname(path) !== here) cpSync(dirname(path), here, { recursive: true })
}

/** Gives one line of what was shown; throws where it does not hold. */
export const check = async () => {
  const claude = packageAt('@anthropic-ai/claude-code', version)
  const folder = mkdtempSync(join(tmpdir(), 'coppice-claude-resume-'))
  /** @type {Message[][]} */
  const asked = []
  const server = modelServer(asked)
  try {
    await new Promise((resolve) => server.listen(0, '127.0.0.1', () => resolve(null)))
    const { port } = /** @type {import('node:net').AddressInfo} */ (server.address())
    const carrying = new Carrying(folder)
    await composed(carrying, 4)
    // Its own sessions are given back as they were; this version does not know yet how a later one marks the leaf.
    const rows = carrying.sessions().filter(({ origin }) => origin?.format !== 'claude')
    let count = 0
    for (const { session } of rows) {
      const pieces = toldIn(carrying.context(session))
      const wanted = joined(pieces)
      if (wanted.length === 0) continue
      const {
        path,
        notes,
        resume: command,
      } = carrying.coppice('export', session, 'claude', '--install', '--no-redact')
      bring(path, carrying)
      asked.length = 0
      await resume(join(claude, 'cli.js'), command.split(' ').at(-1), carrying, port)
      const request = asked.find((messages) => JSON.stringify(messages.at(-1)).includes(prompt))
      const found = joined(toldBy(request ?? []))
      // Claude Code has a summary before all that was kept, and the export says so.
      if (notes.some((/** @type {string} */ note) => note.includes('pinned message')))
        holdsPieces(session, pieces, found)
      else holds(session, wanted, found)
      count += wanted.length
    }
    return `Claude Code ${versionAt(claude)} resumed ${rows.length} sessions: its model got all ${count} pieces of their histories`
  } finally {
    server.close()
    rmSync(folder, { recursive: true, force: true })
  }
}

/** @param {string} session @param {readonly string[]} wanted @param {readonly string[]} given */
const holds = (session, wanted, given) => {
  for (const [i, one] of wanted.entries()) {
    const other = given[i]
    const isLast = i === wanted.length - 1
    if (other === one || (isLast && other?.startsWith(one) === true)) continue
    throw new Error(
      `session ${session}: ${i + 1} of ${wanted.length} should be\n  ${one}\nbut is\n  ${other}`,
    )
  }
  if (given.at(-1)?.endsWith(prompt.replaceAll(' ', '')) !== true)
    throw new Error(`session ${session}: the new prompt is not the last, but\n  ${given.at(-1)}`)
}

/** Every piece is there, wherever it stands. @param {string} session @param {readonly string[]} pieces @param {readonly string[]} given */
const holdsPieces = (session, pieces, given) => {
  const words = given.join('\n')
  const missing = pieces.find((one) => !words.includes(one.slice(one.indexOf(' ') + 1)))
  if (missing !== undefined) throw new Error(`session ${session}: there should be\n  ${missing}`)
}
