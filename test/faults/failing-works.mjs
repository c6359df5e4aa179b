// @ts-check
/** What is done under shim.c, and what must hold afterwards (failing.mjs). */
import assert from 'node:assert/strict'
import * as fs from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'

const [folder = ''] = process.argv.slice(2)
/** @type {typeof import('../../src/index.js')} */
const { openStore, importSources, formatNamed } = await import(
  pathToFileURL(process.env.COPPICE_LIBRARY ?? '').href
)

/** @typedef {import('../../src/index.js').Store} Store */
/** @typedef {{ readonly turn: string, readonly prompt: string, readonly plain: string, readonly secret: string }} World */
/** @typedef {(session: string, ids: readonly string[]) => void} Ack */
/** @typedef {{ readonly store: Store, readonly error: unknown, readonly world: World }} After */
/**
 * @typedef {object} Work
 * @property {(world: World) => Promise<void>} [before] done before anything fails
 * @property {(store: Store, world: World, ack: Ack) => Promise<void>} run
 * @property {boolean} [isPurged] a session may be gone for good afterwards
 * @property {(after: After) => Promise<void>} [after] what must hold then, beside what must hold of every store
 */

const live = join(folder, 'live')
const kept = join(folder, 'kept')
const storePath = join(live, 'store')
const workspace = join(live, 'workspace')
const secret = 'the horse is called Trigger'
const large = 'x'.repeat(70_000)

export const open = () => openStore(storePath, { userHome: live })
const at = (/** @type {string} */ name) => join(workspace, name)
export const user = (/** @type {string} */ content) =>
  /** @type {const} */ ({ type: 'message', role: 'user', content })
export const idsOf = (/** @type {readonly { readonly id: string }[]} */ events) => events.map(({ id }) => id)

const tree = () =>
  Object.fromEntries(
    fs
      .readdirSync(workspace, { recursive: true, encoding: 'utf8' })
      .filter((name) => fs.statSync(at(name)).isFile())
      .sort()
      .map((name) => [name, fs.readFileSync(at(name), 'utf8')]),
  )
const oldTree = { a: 'one', 'd/kept': 'mine', gone: 'back' }
const newTree = { a: 'two', 'd/kept': 'mine', 'd/new': 'new' }

/** Two sessions: one with a turn that changed files, one with a secret in a message and in a blob. @returns {Promise<World>} */
export const begin = async () => {
  fs.mkdirSync(at('d'), { recursive: true })
  for (const [name, text] of Object.entries(oldTree)) fs.writeFileSync(at(name), text)
  const store = await open()
  const code = await store.create({ workspace, title: 'code' })
  const [prompt] = await code.append(user('change them'), { notice: false })
  await code.beforeEdit(['a', 'gone', 'd/new'])
  fs.rmSync(at('gone'))
  for (const name of /** @type {const} */ (['a', 'd/new'])) fs.writeFileSync(at(name), newTree[name])
  await code.afterEdit(['a', 'gone', 'd/new'])
  code.close()
  const plain = await store.create({ workspace, title: 'plain' })
  await plain.append(user('what is its name?'))
  const [said] = await plain.append(user(`${secret} ${large}`))
  plain.close()
  await store.list()
  store.close()
  fs.cpSync(live, kept, { recursive: true })
  return { turn: code.id, prompt: prompt?.id ?? '', plain: plain.id, secret: said?.id ?? '' }
}

export const reset = () => {
  fs.rmSync(live, { recursive: true, force: true })
  fs.cpSync(kept, live, { recursive: true })
}

export const sessionFolder = (/** @type {string} */ id) => {
  const projects = join(storePath, 'projects')
  return join(projects, fs.readdirSync(projects)[0] ?? '', id)
}

/** The old tree with the head moved, once, or the new one with no such event. @param {After} after */
const mustBeWhole = async ({ store, error, world }) => {
  const moves = (await (await store.reader(world.turn)).events()).filter(
    ({ restore }) => restore !== undefined,
  )
  assert.ok(moves.length <= 1, `the head moved ${moves.length} times`)
  assert.deepEqual(tree(), moves.length === 0 ? newTree : oldTree)
  if (error === null) assert.equal(moves.length, 1)
}

/** @param {Store} store @param {string} id */
export const placesOf = async (store, id) => [
  ...(await store.list()).filter(({ session }) => session === id).map(() => 'live'),
  ...(await store.archived()).filter((ref) => ref.id === id).map(() => 'archived'),
]

const source = join(live, 'source.jsonl')
const record = (/** @type {number} */ n) => ({
  type: 'message',
  id: `r${n}`,
  parentId: n === 1 ? null : `r${n - 1}`,
  timestamp: `2026-11-01T00:00:0${n}.000Z`,
  message: { role: 'user', content: [{ type: 'text', text: n === 2 ? large : `record ${n}` }], timestamp: n },
})
const importIt = async (/** @type {Store} */ store) => {
  const format = formatNamed('pi')
  assert.ok(format !== undefined)
  return importSources(store, [{ format, path: source }], { workspace })
}

/** @type {Record<string, Work>} */
export const works = {
  new: {
    run: async (store, _, ack) => {
      const session = await store.create({ workspace, title: 'new', system: large })
      ack(session.id, [session.id])
      session.close()
    },
  },
  append: {
    run: async (store, { plain }, ack) => {
      const session = await store.open(plain)
      for (const text of ['one', large, 'three'])
        ack(
          plain,
          idsOf(await session.append([user(text), { type: 'status', note: true, status: 'processing' }])),
        )
      session.close()
    },
  },
  checkpoint: {
    before: async () => fs.writeFileSync(at('a'), 'three'),
    run: async (store, { turn }, ack) => {
      const session = await store.open(turn)
      const { id } = await session.checkpoint()
      if (id !== null) ack(turn, [id])
      session.close()
    },
    after: async () => assert.equal(tree().a, 'three'),
  },
  'undo --code': {
    run: async (store, { turn, prompt }) => {
      const session = await store.open(turn)
      await session.undo(prompt)
      session.close()
    },
    after: mustBeWhole,
  },
  archive: {
    run: async (store, { plain }) => void (await store.archive(plain, 'archive')),
    after: async ({ store, error, world: { plain } }) => {
      const places = await placesOf(store, plain)
      assert.equal(places.length, 1, `it is ${places.join(' and ') || 'nowhere'}`)
      if (error === null) assert.deepEqual(places, ['archived'])
      // What went to the archive now is not old yet, whatever became of the note that says so.
      assert.deepEqual((await store.purge(3_600_000)).sessions, [])
      if (places[0] === 'archived') await store.unarchive(plain)
    },
  },
  unarchive: {
    before: async ({ turn }) => {
      const store = await open()
      await store.archive(turn, 'archive')
      store.close()
    },
    run: async (store, { turn }) => void (await store.unarchive(turn)),
    after: async ({ store, error, world: { turn } }) => {
      const places = await placesOf(store, turn)
      assert.equal(places.length, 1, `it is ${places.join(' and ') || 'nowhere'}`)
      if (error === null) assert.deepEqual(places, ['live'])
      if (places[0] === 'archived') await store.unarchive(turn)
    },
  },
  purge: {
    isPurged: true,
    before: async ({ plain }) => {
      const store = await open()
      await store.archive(plain, 'delete')
      store.close()
    },
    run: async (store) => void (await store.purge()),
    after: async ({ store, error, world: { plain } }) => {
      if (error === null) assert.deepEqual(await placesOf(store, plain), [])
      await store.purge()
      assert.deepEqual(await placesOf(store, plain), [])
    },
  },
  redact: {
    run: async (store, world) => void (await store.redact(world.plain, { events: [world.secret] })),
    after: async ({ store, error, world }) => {
      const events = await (await store.reader(world.plain)).events()
      const isRedacted = events.find(({ id }) => id === world.secret)?.redacted === true
      if (error === null) assert.ok(isRedacted)
      assert.equal(events.filter(({ type }) => type === 'redaction').length, isRedacted ? 1 : 0)
      await store.redact(world.plain, { events: [world.secret] })
      const still = fs
        .readdirSync(storePath, { recursive: true, encoding: 'utf8' })
        .filter((name) => !name.includes('/archive/redacted/') && fs.statSync(join(storePath, name)).isFile())
        .filter((name) => fs.readFileSync(join(storePath, name), 'latin1').includes(secret))
      assert.deepEqual(still, [], 'the secret is still there')
    },
  },
  recover: {
    before: async ({ plain }) =>
      fs.appendFileSync(join(sessionFolder(plain), 'data.jsonl'), '{"id":"0123456789abcdef","par'),
    run: async (store, { plain }, ack) => {
      const session = await store.open(plain)
      ack(plain, idsOf(await session.append(user('after'))))
      session.close()
    },
  },
  reindex: {
    run: async (store) => void (await store.reindex()),
  },
  import: {
    before: async () => {
      const head = {
        type: 'session',
        version: 3,
        id: 'src',
        timestamp: '2026-11-01T00:00:00.000Z',
        cwd: workspace,
      }
      fs.writeFileSync(
        source,
        [head, ...[1, 2, 3, 4].map(record)].map((one) => `${JSON.stringify(one)}\n`).join(''),
      )
    },
    run: async (store) => {
      const { failed } = await importIt(store)
      if (failed.length > 0) throw Object.assign(new Error(failed[0]?.reason), { tag: 'Imported' })
    },
    after: async ({ store }) => {
      const { imported, failed } = await importIt(store)
      assert.deepEqual(failed, [])
      assert.equal(imported.length, 1)
      const events = await (await store.reader(imported[0]?.session ?? '')).events()
      assert.equal(events.filter(({ type }) => type === 'message').length, 4)
    },
  },
  fork: {
    run: async (store, { turn }, ack) => {
      const { session } = await store.fork(turn)
      ack(session, [session])
    },
  },
}
