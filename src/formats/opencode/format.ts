import { basename, isAbsolute, join } from 'node:path'
import { findFiles, startOf } from '../find.js'
import type { Format, Item, Surroundings } from '../format.js'
import { parsedJson, textIn } from '../members.js'
import { isObject } from '../remainder.js'
import { Remarks } from '../remarks.js'
import { readDatabase } from './database.js'
import { readExport } from './export.js'
import { History } from './history.js'
import type { StoredSession } from './stored.js'
import { filesBeside, StorageTree } from './tree.js'

const folders = ({ home, env }: Surroundings): readonly string[] => {
  const data = env.XDG_DATA_HOME || join(home, '.local', 'share')
  return isAbsolute(data) ? [join(data, 'opencode')] : []
}

const isDatabase = (path: string, start: string): boolean =>
  basename(path).startsWith('opencode') && start.startsWith('SQLite format 3')

const isExport = (start: string): boolean =>
  /^\s*\{\s*"info"\s*:\s*\{/.test(start) && /"(ses|msg)_|"sessionID"/.test(start)

/** A session's record is small; where it does not parse, its members are told by their names. */
const isSessionFile = (path: string, start: string): boolean => {
  if (!path.split(/[\\/]/).slice(-4, -1).includes('session')) return false
  const value = parsedJson(start)
  if (isObject(value))
    return (
      typeof value.id === 'string' &&
      isObject(value.time) &&
      value.sessionID === undefined &&
      value.messageID === undefined
    )
  return /^\s*\{/.test(start) && /"id"\s*:/.test(start) && /"(projectID|directory)"\s*:/.test(start)
}

const detect = (path: string, start: string): boolean =>
  isDatabase(path, start) || (path.endsWith('.json') && (isExport(start) || isSessionFile(path, start)))

async function* read(source: string): AsyncGenerator<Item> {
  const remarks = new Remarks()
  try {
    const start = await startOf(source)
    if (start.startsWith('SQLite format 3')) yield* readAll(source, remarks)
    else if (isExport(start)) {
      const { session, failures } = await readExport(source)
      yield* failures
      yield* itemsOf(session, source, remarks)
    } else {
      const tree = new StorageTree(source)
      const session = await tree.read()
      yield* tree.failures
      yield* itemsOf(session, source, remarks)
    }
  } catch (error) {
    yield { kind: 'failed', line: null, reason: (error as Error).message }
  }
  yield* remarks.items()
}

async function* readAll(source: string, remarks: Remarks): AsyncGenerator<Item> {
  for await (const session of readDatabase(source, (text) => remarks.add(null, text)))
    yield* itemsOf(session, source, remarks)
}

function* itemsOf(session: StoredSession | null, source: string, remarks: Remarks): Generator<Item> {
  if (session === null) return
  const id = textIn(session.info, 'id') ?? idIn(session, source)
  yield* new History(session, id, remarks).items()
}

/** A database's write-ahead log; of a session in files of its own, all of them. */
const beside = (source: string): readonly string[] =>
  source.endsWith('.json') ? filesBeside(source) : [`${source}-wal`]

/** A file that lost its session's record: its messages name the session. */
const idIn = ({ messages }: StoredSession, source: string): string =>
  textIn(messages[0]?.info ?? {}, 'sessionID') ?? basename(source, '.json')

const isNamed = (name: string): boolean => name.endsWith('.json') || name.endsWith('.db')

/** Messages and parts stand beside sessions, a file each: their folders are read with their session. */
const isEntered = (name: string, siblings: readonly string[]): boolean =>
  !(
    (name === 'message' || name === 'part') &&
    siblings.some((other) => other === 'session' || other === 'info')
  )

/** OpenCode: `storage/session/<project>/<id>.json` and what stands beside, `opencode.db`, and what `opencode export` writes. */
export const opencode: Format = {
  name: 'opencode',
  title: 'OpenCode',
  folders,
  find: (path) => findFiles(path, detect, { isNamed, isEntered }),
  finding: { isNamed, isEntered },
  detect,
  beside,
  read,
}
