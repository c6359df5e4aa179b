// @ts-check
/**
 * Makes what the measures read, once a run and through the public API, so that it looks as a user's store does: the
 * stores `plain` and `compacted` (each a session a size, in the second with a compaction 200 events before the end),
 * `many` (1,000 sessions) and `few` (20).
 */
import { cpSync, mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { coppice } from './library.mjs'
import { draft, drafts, summary, title } from './workload.mjs'

/** How many events come after the compaction. */
const recent = 200
const batch = 200

/**
 * @typedef {{ events: number, session: string, plain: string, compacted: string, neededFrom: number, recent: number }} Log
 *   plain, compacted: the files. neededFrom: the byte in `compacted` from which a resume needs its lines. recent: events after the compaction.
 * @typedef {{ folder: string, workspace: string, logs: Log[], many: string, few: string, manyCount: number }} Fixtures
 */

/** @param {string} path */
const open = (path) => coppice.openStore(path, { durability: 'none' })

/** @param {import('../src/index.js').Session} session @param {number} from @param {number} to */
async function grow(session, from, to) {
  for (let at = from; at < to; at += batch) await session.append(drafts(at, Math.min(batch, to - at)))
}

/** @param {string} path @param {string} workspace @param {string} session */
function logFile(path, workspace, session) {
  return join(path, 'projects', Buffer.from(workspace).toString('base64url'), session, 'data.jsonl')
}

/** @param {string} folder @param {string} workspace @param {number} size @returns {Promise<Log>} */
async function makeLog(folder, workspace, size) {
  const plain = join(folder, `plain-${size}`)
  const compacted = join(folder, `compacted-${size}`)
  const cut = size - recent
  const store = await open(plain)
  const session = await store.create({ workspace, title: title(size), system: 'You are a coding agent.' })
  const { id } = session
  await grow(session, 0, cut)
  session.close()
  store.close()
  // Copying a store is a full backup of it (docs/FORMAT.md).
  cpSync(plain, compacted, { recursive: true, preserveTimestamps: true })
  await goOn(plain, id, async (held) => grow(held, cut, size))
  await goOn(compacted, id, async (held) => {
    await held.compact({ summary })
    await grow(held, cut, size)
  })
  const file = logFile(compacted, workspace, id)
  return {
    events: size,
    session: id,
    plain: logFile(plain, workspace, id),
    compacted: file,
    neededFrom: startOfLine(file, '"type":"compaction"'),
    recent,
  }
}

/** @param {string} path @param {string} id @param {(held: import('../src/index.js').Session) => Promise<void>} run */
async function goOn(path, id, run) {
  const store = await open(path)
  const held = await store.open(id)
  await run(held)
  held.close()
  store.close()
}

/** @param {string} file @param {string} mark */
function startOfLine(file, mark) {
  const bytes = readFileSync(file)
  return bytes.lastIndexOf(10, bytes.lastIndexOf(mark)) + 1
}

/** @param {string} path @param {string} workspace @param {number} count @param {number} size */
async function makeSessions(path, workspace, count, size) {
  const store = await open(path)
  for (let i = 0; i < count; i++) {
    const session = await store.create({ workspace, title: title(i) })
    await session.append(Array.from({ length: size }, (_, at) => draft(i * 18 + at)))
    session.close()
  }
  store.close()
  return path
}

/** @param {{ folder: string, sizes: number[], manyCount: number, manySize: number }} wanted @returns {Promise<Fixtures>} */
export async function make({ folder, sizes, manyCount, manySize }) {
  const workspace = join(folder, 'work')
  mkdirSync(workspace)
  const logs = []
  for (const size of sizes) logs.push(await makeLog(folder, workspace, size))
  const many = manyCount === 0 ? '' : await makeSessions(join(folder, 'many'), workspace, manyCount, manySize)
  const few = await makeSessions(join(folder, 'few'), workspace, 20, 20)
  return { folder, workspace, logs, many, few, manyCount }
}
