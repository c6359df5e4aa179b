// @ts-check
/** Sessions to carry to another agent: those of the samples, and those of the test fixtures. */
import { spawnSync } from 'node:child_process'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { builtEntry, root } from '../built.mjs'

/** Where each format's sessions are. */
const sources = [
  ['claude', 'samples/claude'],
  ['deepcode', 'samples/deepcode'],
  ['zettcode', 'samples/zettcode'],
  ['pi', 'test/fixtures/pi'],
  // Not the one from before lines had envelopes: no Codex of today opens it, and it is given back as it was.
  [
    'codex',
    'test/fixtures/codex/sessions/2026/12/01/rollout-2026-12-01T09-00-00-019d0000-0000-7000-8000-00000000c0a1.jsonl',
  ],
  ['gemini', 'test/fixtures/gemini'],
  ['opencode', 'test/fixtures/opencode'],
]

/**
 * A message as the model gets it.
 * @typedef {{ role: string, content: unknown, toolCalls?: { id: string, name: string, arguments: string }[],
 *   toolCallId?: string }} Message
 * @typedef {{ session: string, startedBy: unknown, origin: { format: string } | null }} Row
 */

/** A home folder with a store in it, and `coppice` run there. */
export class Carrying {
  /** @param {string} folder */
  constructor(folder) {
    this.home = join(folder, 'home')
    this.workspace = join(folder, 'workspace')
    this.env = { PATH: process.env.PATH ?? '', HOME: this.home, COPPICE_STORE: join(folder, 'store') }
    for (const path of [this.home, this.workspace]) mkdirSync(path, { recursive: true })
    /** The file that each session came from. @type {Map<string, string>} */
    this.files = new Map()
    for (const [format = '', path = ''] of sources)
      this.#take(this.coppice('import', format, join(root, path)))
  }

  /**
   * What a command answers. Throws where it fails.
   * @param {string[]} args
   * @returns {any}
   */
  coppice(...args) {
    const text = this.text(...args)
    return text === '' ? null : JSON.parse(text)
  }

  /** @param {string[]} args */
  text(...args) {
    const { status, stdout, stderr } = this.#run(args)
    if (status !== 0) throw new Error(`coppice ${args.join(' ')}: ${stderr.trim()}`)
    return stdout.trim()
  }

  /** Takes in what of a folder can be read. @param {string} format @param {string} path */
  importAny(format, path) {
    this.#take(JSON.parse(this.#run(['import', format, path]).stdout || '{}'))
  }

  /** @param {{ imported?: readonly { source: string, session: string }[] }} report */
  #take({ imported = [] }) {
    for (const { source, session } of imported) this.files.set(session, source)
  }

  /** @param {string[]} args */
  #run(args) {
    const options = { cwd: this.workspace, env: this.env, encoding: /** @type {const} */ ('utf8') }
    return spawnSync(process.execPath, [builtEntry, ...args, '--json'], { ...options, maxBuffer: 2 ** 28 })
  }

  /** Sub-agents' go with those that started them. */
  sessions() {
    const rows = /** @type {readonly Row[]} */ (this.coppice('list', '--all'))
    return rows.filter(({ startedBy }) => startedBy === null)
  }

  /**
   * @param {string} session
   * @returns {readonly Message[]}
   */
  context(session) {
    return this.coppice('context', session, '--format', 'plain')
  }
}

/**
 * One thing that is told to a model, in a form that agents' requests can be brought to: `user: …`, `assistant: …`,
 * `call: name arguments`, `result: …`. Blanks do not count.
 * @typedef {string} Told
 */

/** @param {string} kind @param {string} text @returns {Told[]} */
export const told = (kind, text) => {
  const bare = text.replaceAll(/\s+/g, '')
  return bare === '' ? [] : [`${kind}: ${bare}`]
}

/** @param {string} name @param {string} text */
export const toldCall = (name, text) => {
  try {
    return told('call', `${name} ${JSON.stringify(JSON.parse(text || '{}'))}`)
  } catch {
    return told('call', `${name} ${text}`)
  }
}

/** @param {unknown} content @returns {string} */
export const wordsIn = (content) =>
  typeof content === 'string'
    ? content
    : (Array.isArray(content) ? content : [])
        .map(({ text }) => (typeof text === 'string' ? text : ''))
        .join('')

const summaryMark = 'Summary of the conversation so far:\n\n'
/** Stands for an image where a context is told in words. */
const imageMark = /\[image[^\]]*\]/g

/** @param {readonly Message[]} context @returns {readonly Told[]} */
export const toldIn = (context) =>
  context.flatMap(({ role, content, toolCalls = [] }) => {
    if (role === 'system') return []
    const words = wordsIn(content).replace(summaryMark, '').replaceAll(imageMark, '')
    return [
      ...told(role === 'tool' ? 'result' : role, words),
      ...toolCalls.flatMap(({ name, arguments: text }) => toldCall(name, text)),
    ]
  })

/**
 * Neighbours that say the same kind of thing as one: agents cut words into messages as they like.
 * @param {readonly Told[]} list
 */
export const joined = (list) => {
  /** @type {string[]} */
  const found = []
  for (const one of list) {
    const kind = /^(user|assistant): /.exec(one)?.[0]
    const last = found.at(-1)
    if (kind !== undefined && last?.startsWith(kind)) found[found.length - 1] = last + one.slice(kind.length)
    else found.push(one)
  }
  return found
}
