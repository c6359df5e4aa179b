// @ts-check
/**
 * A program that keeps its history with the built library, to be killed, stopped and cut off: `worker.mjs STORE WORKSPACE
 * WORK [SESSION [SOURCES]]` waits for a line on stdin, and then does its work again and again until someone ends it, or as often as
 * the line says; where that says `hold` too, it waits for another line once it has everything open. What was acknowledged to it, it says on stdout, one JSON a line, each in one write.
 */
import {
  appendFileSync,
  closeSync,
  existsSync,
  fsyncSync,
  openSync,
  readFileSync,
  truncateSync,
  writeFileSync,
  writeSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { createInterface } from 'node:readline'
import { pathToFileURL } from 'node:url'

const [storePath = '', workspace = '', work = '', name = '', sources = workspace] = process.argv.slice(2)
const library = pathToFileURL(process.env.COPPICE_LIBRARY ?? '').href
/** @type {typeof import('../../src/index.js')} */
const { openStore, importSources, formatNamed, systemPorts } = await import(library)

/** @typedef {import('../../src/index.js').Session} Session */
/** @typedef {import('../../src/index.js').Store} Store */

/** @param {Record<string, unknown>} what */
const say = (what) => writeSync(1, `${JSON.stringify(what)}\n`)
/** @param {string} content */
const user = (content) => /** @type {const} */ ({ type: 'message', role: 'user', content })
/** @param {string} content */
const assistant = (content) => /** @type {const} */ ({ type: 'message', role: 'assistant', content })
const idsOf = (/** @type {readonly { readonly id: string }[]} */ events) => events.map(({ id }) => id)
/** Of every length, some of several pages, some so large that they become blobs. */
const textOf = (/** @type {number} */ turn) =>
  `turn ${turn} ${'x'.repeat(turn % 11 === 10 ? 70_000 + turn : turn % 5 === 4 ? 9000 : turn % 97)}`

/** A user's file that is on disk, whatever happens: what no one synced is no one's promise. @param {string} file @param {string} text */
const writeSynced = (file, text) => {
  const [handle, folder] = [openSync(file, 'w'), openSync(dirname(file), 'r')]
  writeSync(handle, text)
  for (const one of [handle, folder]) {
    fsyncSync(one)
    closeSync(one)
  }
}

/** Several appends at once, so that some wait while a sync is under way. @param {Session} session @param {number} turn */
const appendSome = async (session, turn) => {
  const some = Array.from({ length: 1 + (turn % 4) }, (_, i) => {
    const drafts = i % 2 === 0 ? [user(textOf(turn + i)), assistant('done')] : user(textOf(turn))
    return session.append(drafts).then((events) => say({ session: session.id, acked: idsOf(events) }))
  })
  await Promise.all(some)
}

/** @type {Record<string, (store: Store) => Promise<(turn: number) => Promise<void>>>} */
const works = {
  append: async (store) => {
    const session = await store.open(name)
    return (turn) => appendSome(session, turn)
  },
  create: async (store) => async (turn) => {
    const session = await store.create({ workspace, title: `title ${turn}`, system: textOf(turn) })
    say({ session: session.id, acked: [session.id] })
    await appendSome(session, turn)
    session.close()
    await store.list()
  },
  /** Two files, always alike but while they are edited: an undo takes both back, a redo brings both again. */
  code: async (store) => {
    const session = await store.open(name)
    const files = ['a.txt', 'b.txt'].map((file) => join(workspace, file))
    let version = existsSync(files[0] ?? '') ? Number(readFileSync(files[0] ?? '', 'utf8').split(' ')[0]) : 0
    return async () => {
      version++
      // A checkpoint comes before it where a killed one left files that nobody recorded.
      const events = await session.append(user(`version ${version}`), { notice: false })
      const id = events.at(-1)?.id ?? ''
      say({ session: name, acked: idsOf(events), prompt: id, phase: 'editing', version })
      await session.beforeEdit(files)
      for (const file of files) writeSynced(file, `${version} ${'x'.repeat(5000)}`)
      await session.afterEdit(files)
      for (const move of /** @type {const} */ (['undo', 'redo', 'undo', 'redo'])) {
        say({ phase: 'moving', version })
        await (move === 'undo' ? session.undo(id) : session.redo())
        say({ session: name, acked: [session.position], moved: move })
      }
      await session.checkpoint()
    }
  },
  archive: async (store) => async () => {
    await store.archive(name, 'archive')
    say({ session: name, place: 'archived' })
    await store.unarchive(name)
    say({ session: name, place: 'live' })
  },
  redact: async (store) => async (turn) => {
    const session = await store.open(name)
    const events = await session.append([user(`secret ${turn} ${textOf(turn)}`), assistant('done')])
    session.close()
    say({ session: name, acked: idsOf(events) })
    const { redacted } = await store.redact(name, { events: idsOf(events).slice(0, 1) })
    say({ session: name, redacted })
  },
  reindex: async (store) => {
    const session = await store.open(name)
    return async (turn) => {
      await appendSome(session, turn)
      await store.list()
      await store.reindex()
    }
  },
  /** A source that grows, as that of a tool at work does. */
  import: async (store) => {
    const path = join(sources, 'source.jsonl')
    const format = formatNamed('pi')
    if (format === undefined) throw new Error('no such format')
    const at = (/** @type {number} */ turn) => new Date(Date.UTC(2026, 10, 1) + turn * 1000).toISOString()
    const add = (/** @type {object} */ record) => appendFileSync(path, `${JSON.stringify(record)}\n`)
    if (!existsSync(path) || readFileSync(path, 'utf8').indexOf('\n') < 0) writeFileSync(path, '')
    if (readFileSync(path).length === 0)
      add({ type: 'session', version: 3, id: `${name}-source`, timestamp: at(0), cwd: workspace })
    // A record that a kill cut short was never one.
    const text = readFileSync(path, 'utf8')
    truncateSync(path, Buffer.byteLength(text.slice(0, text.lastIndexOf('\n') + 1)))
    let turn = text.split('\n').length - 1
    return async () => {
      for (let i = 0; i < 5; i++, turn++) {
        const content = [{ type: 'text', text: textOf(turn) }]
        const parentId = turn === 1 ? null : `r${turn - 1}`
        const message = { role: 'user', content, timestamp: turn }
        add({ type: 'message', id: `r${turn}`, parentId, timestamp: at(turn), message })
      }
      const { imported, failed } = await importSources(store, [{ format, path }], { workspace })
      say({ session: imported[0]?.session, records: turn - 1, failed })
    }
  },
  /** The same without a sync: what a power cut may take. */
  unsynced: async () => {
    const store = await openStore(storePath, { durability: 'none' })
    const session = await store.open(name)
    return (turn) => appendSome(session, turn)
  },
}

const begin = works[work]
if (begin === undefined) throw new Error(`no such work: ${work}`)
say({ ready: true })
const words = createInterface({ input: process.stdin })[Symbol.asyncIterator]()
const [times = '', holds] = String((await words.next()).value).split(' ')
const store = await openStore(storePath, { ...systemPorts, userHome: dirname(storePath) })
const turn = await begin(store)
say({ began: true })
if (holds !== undefined) await words.next()
const first = Number(process.hrtime.bigint() % 50n)
for (let i = 0; i < (Number(times) || Number.POSITIVE_INFINITY); i++) await turn(first + i)
say({ done: true })
process.exit(0)
