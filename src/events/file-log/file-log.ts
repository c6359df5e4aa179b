import { dirname, join, sep } from 'node:path'
import * as TE from 'fp-ts/lib/TaskEither.js'
import { Damaged, NotFound, StoreUnusable, Tagged, WriteFailed } from '../errors/index.js'
import { type EventId, isEventType } from '../event.js'
import type { Line } from '../line.js'
import type { AppendError, Appended, EventLog, LogStamp, ReadOptions } from '../log.js'
import { refuseNewerLine } from '../newer.js'
import type { FileHandle } from '../ports.js'
import type { Ports } from '../system.js'
import { logName } from './constants.js'
import { createSession } from './create.js'
import { fileBlobs } from './file-blobs.js'
import { refuseLink } from './links.js'
import { OpenLog } from './open-log.js'
import { readBackward } from './read-backward.js'
import { readForward } from './read-forward.js'
import { firstLine } from './scan.js'
import { noRoot } from './survey.js'
import { watchFile } from './watch.js'

export { logName } from './constants.js'
export const isSessionId = (name: string): boolean => /^[0-9a-f]{32}$/.test(name)

/** How many logs stay open for appending while nothing is appended to them. */
const maxOpen = 64

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
  const root = join(folder, sep)
  const sessionFolder = (session: EventId): string => root + (isSessionId(session) ? session : 'invalid')
  const pathOf = (session: EventId): string => sessionFolder(session) + sep + logName

  let last: OpenLog | null = null
  const openLog = (session: EventId): OpenLog => {
    if (last?.session === session) return last
    const log =
      logs.get(session) ??
      new OpenLog(pathOf(session), session, options, () => options.holder?.(session) ?? null)
    // Last used last; those that were not used for longest are closed.
    logs.delete(session)
    logs.set(session, log)
    if (logs.size > maxOpen) closeOldest(logs)
    last = log
    return log
  }

  async function* reading(
    session: EventId,
    read: (file: FileHandle) => AsyncIterable<readonly Line[]>,
  ): AsyncGenerator<readonly Line[]> {
    const path = pathOf(session)
    let file: FileHandle | undefined
    try {
      refuseLink(fs, dirname(path))
      file = fs.open(path, 'read')
      refuseNewerRoot(file)
      for await (const lines of read(file)) {
        refuseNewer(lines, path)
        yield lines
      }
    } catch (error) {
      throw unreadable(options, session, sessionFolder(session), error)
    } finally {
      file?.close()
    }
  }

  return {
    create: (lines, durability = 'sync', blobs = new Map()) =>
      attempt(folder, () => createSession(options, folder, { lines, blobs }, durability)),
    append: (session, expected, lines, durability = 'sync') =>
      attempt(folder, () => openLog(session).append(expected, lines, durability)),
    readForward: (session, read?: ReadOptions) => reading(session, (file) => readForward(file, read)),
    readBackward: (session, read?: ReadOptions) => reading(session, (file) => readBackward(file, read)),
    sessions: () =>
      fs.readDirNoLinks?.(folder).filter(isSessionId) ??
      fs.readDir(folder).filter((name) => isSessionId(name) && fs.isLink?.(join(folder, name)) !== true),
    stamp: (session) => stampOf(options, pathOf(session)),
    watch: (session, how) => watching(options, session, sessionFolder(session), how),
    blobs: fileBlobs(sessionFolder, options),
    close: () => {
      for (const log of logs.values()) log.close()
      logs.clear()
      last = null
    },
  }
}

const closeOldest = (logs: Map<EventId, OpenLog>): void => {
  for (const [session, log] of logs) {
    if (!log.isIdle) continue
    log.close()
    logs.delete(session)
    return
  }
}

async function* watching(
  options: FileLogOptions,
  session: EventId,
  folder: string,
  how: { readonly after?: EventId; readonly signal: AbortSignal },
): AsyncGenerator<readonly Line[]> {
  const path = join(folder, logName)
  try {
    for await (const lines of watchFile(options.fs, path, session, how)) {
      refuseNewer(lines, path)
      yield lines
    }
  } catch (error) {
    throw unreadable(options, session, folder, error)
  }
}

/** A log of a newer format is never half-read: its root says so, wherever a reader begins. */
const refuseNewerRoot = (file: FileHandle): void => {
  const root = firstLine(file)
  if (root !== null) refuseNewer([root], file.path)
}

const refuseNewer = (lines: readonly Line[], path: string): void => {
  let type = ''
  for (const line of lines) {
    // Lines of one type come in runs, and a known type is never refused.
    if (line.type === type) continue
    const newer = refuseNewerLine(line, path)
    if (newer !== null) throw newer
    if (isEventType(line.type)) type = line.type
  }
}

const stampOf = ({ fs }: Ports, path: string): LogStamp | null => {
  const stat = fs.stat(path)
  return stat === null
    ? null
    : { bytes: stat.size, identity: `${stat.dev}:${stat.ino}`, modified: stat.mtimeMs }
}

const unreadable = ({ fs }: Ports, session: EventId, folder: string, error: unknown): unknown => {
  const { code } = error as NodeJS.ErrnoException
  if (error instanceof Tagged || code === undefined) return error
  const path = join(folder, logName)
  if (code !== 'ENOENT' && code !== 'ENOTDIR')
    return new StoreUnusable(`the log cannot be read (${code})`, path, 'check its permissions', error)
  // A session's folder without a log in it lost its log: no one makes such a folder.
  if (fs.stat(folder) !== null && fs.stat(path) === null) return new Damaged(path, noRoot)
  return new NotFound('session', session, path, 'try list --all, or check -w')
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
