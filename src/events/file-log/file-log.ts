import { join } from 'node:path'
import * as TE from 'fp-ts/lib/TaskEither.js'
import { NotFound, StaleTail, StoreUnusable, Tagged, WriteFailed } from '../errors/index.js'
import type { EventId } from '../event.js'
import type { Line } from '../line.js'
import type { AppendError, Appended, Durability, EventLog, LogStamp, ReadOptions } from '../log.js'
import type { FileHandle } from '../ports.js'
import type { Ports } from '../system.js'
import { newline } from './constants.js'
import { fileBlobs } from './file-blobs.js'
import { OpenLog } from './open-log.js'
import { readBackward } from './read-backward.js'
import { readForward } from './read-forward.js'
import { watchFile } from './watch.js'

export const logName = 'data.jsonl'
export const isSessionId = (name: string): boolean => /^[0-9a-f]{32}$/.test(name)

export interface FileLogOptions extends Ports {
  /** The folder that holds one folder a session. */
  readonly folder: string
  /** Which process holds a session, for the words of Locked. */
  readonly holder?: (session: EventId) => number | null
}

/** The event log on files: `<folder>/<session>/data.jsonl`, with blobs beside it. */
export const fileLog = (options: FileLogOptions): EventLog => {
  const { fs, folder } = options
  const logs = new Map<EventId, OpenLog>()
  const sessionFolder = (session: EventId): string => join(folder, isSessionId(session) ? session : 'invalid')
  const pathOf = (session: EventId): string => join(sessionFolder(session), logName)

  const openLog = (session: EventId): OpenLog => {
    const open = logs.get(session)
    if (open !== undefined) return open
    const made = new OpenLog(pathOf(session), session, options, () => options.holder?.(session) ?? null)
    logs.set(session, made)
    return made
  }

  const readable = (session: EventId): FileHandle => {
    try {
      return fs.open(pathOf(session), 'read')
    } catch (error) {
      throw unreadable(session, pathOf(session), error)
    }
  }

  async function* reading(
    session: EventId,
    read: (file: FileHandle) => AsyncIterable<readonly Line[]>,
  ): AsyncGenerator<readonly Line[]> {
    const file = readable(session)
    try {
      yield* read(file)
    } finally {
      file.close()
    }
  }

  return {
    create: (lines, durability = 'sync') => attempt(folder, () => createSession(options, lines, durability)),
    append: (session, expected, lines, durability = 'sync') =>
      attempt(folder, () => openLog(session).append(expected, lines, durability)),
    readForward: (session, read?: ReadOptions) => reading(session, (file) => readForward(file, read)),
    readBackward: (session, read?: ReadOptions) => reading(session, (file) => readBackward(file, read)),
    sessions: () => fs.readDir(folder).filter(isSessionId),
    stamp: (session) => stampOf(options, pathOf(session)),
    watch: (session, how) => watchFile(fs, pathOf(session), session, how),
    blobs: fileBlobs(sessionFolder, options),
    close: () => {
      for (const log of logs.values()) log.close()
      logs.clear()
    },
  }
}

const stampOf = ({ fs }: Ports, path: string): LogStamp | null => {
  const stat = fs.stat(path)
  return stat === null
    ? null
    : { bytes: stat.size, identity: `${stat.dev}:${stat.ino}`, modified: stat.mtimeMs }
}

/** Made in a temporary folder, synced, and renamed into place: a session's folder without a whole root is damage. */
const createSession = async (
  options: FileLogOptions,
  lines: readonly Line[],
  durability: Durability,
): Promise<Appended> => {
  const { fs, folder, random } = options
  const [root] = lines
  const last = lines[lines.length - 1]
  if (root === undefined || last === undefined || root.type !== 'session' || root.parent !== null)
    throw new TypeError('a session begins with its root')
  const target = join(folder, root.id)
  const temporary = join(folder, `.new-${random.hex(8)}`)
  fs.makeDir(temporary)
  try {
    const file = fs.open(join(temporary, logName), 'new')
    try {
      const bytes = Buffer.concat(lines.flatMap((line) => [line.bytes, Buffer.of(newline)]))
      if (file.write(bytes) !== bytes.length) throw new WriteFailed(target, new Error('the disk is full'))
      if (durability === 'sync') await file.sync()
    } finally {
      file.close()
    }
    if (durability === 'sync') await fs.syncDir(temporary)
    if (fs.stat(target) !== null) throw new StaleTail(root.id, null, root.id)
    fs.rename(temporary, target)
    if (durability === 'sync') await fs.syncDir(folder)
  } catch (error) {
    fs.remove(temporary)
    throw error
  }
  return { lines, tail: last.id }
}

const unreadable = (session: EventId, path: string, error: unknown): Tagged => {
  const { code } = error as NodeJS.ErrnoException
  if (code === 'ENOENT' || code === 'ENOTDIR')
    return new NotFound('session', session, path, 'try list --all, or check -w')
  return new StoreUnusable(`the log cannot be read (${code})`, path, 'check its permissions', error)
}

/** Tagged errors are values of the port; an error of the system becomes one. */
const attempt = (path: string, run: () => Promise<Appended>): TE.TaskEither<AppendError, Appended> =>
  TE.tryCatch(run, (error) => {
    if (error instanceof Tagged) return error as AppendError
    const { code } = error as NodeJS.ErrnoException
    if (code === undefined) throw error
    const isFull = code === 'ENOSPC' || code === 'EDQUOT' || code === 'EIO'
    return isFull
      ? new WriteFailed(path, error)
      : new StoreUnusable(
          `the store cannot be written (${code})`,
          path,
          'check its permissions and its disk',
          error,
        )
  })
