import { dirname } from 'node:path'
import { WriteFailed } from '../../events/errors/index.js'
import type { EventId } from '../../events/event.js'
import { sha256 } from '../../events/id.js'
import type { LogStamp } from '../../events/log.js'
import type { FileHandle, Fs } from '../../events/ports.js'
import { type SessionIndexState, sessionIndex } from '../../projections/session-index.js'

/** A saved fold: the state of a session's index after the event that begins at `from`, and which file it was folded from. */
export interface SavedFold {
  readonly session: EventId
  readonly stamp: LogStamp
  /** Where the last event folded begins, in bytes; it must still stand there. */
  readonly from: number
  readonly state: SessionIndexState
}

/**
 * `metadata.jsonl`: one row a line, the last of a session counts. A cache (INV-8): a row that does not prove itself, or
 * of another version of the fold, is as if it were not there.
 *
 * `{"session":"<id>","sha":"<64 hex>",<rest>}`, `sha` over the rest, so that a row is found and proved without parsing.
 */
const head = '{"session":"'
const shaAt = head.length + 32 + '","sha":"'.length
const restAt = shaAt + 64 + 2

const rowOf = ({ session, stamp, from, state }: SavedFold): string => {
  const rest = JSON.stringify({ v: sessionIndex.version, stamp, from, state }).slice(1)
  return `${head}${session}","sha":"${sha256(rest)}",${rest}`
}

const parseRow = (bytes: Buffer): SavedFold | null => {
  if (bytes.toString('latin1', shaAt, shaAt + 64) !== sha256(bytes.subarray(restAt))) return null
  const row = JSON.parse(`{${bytes.toString('utf8', restAt)}`) as {
    v: number
    stamp: LogStamp
    from: number
    state: SessionIndexState
  }
  const session = bytes.toString('latin1', head.length, head.length + 32)
  if (row.v !== sessionIndex.version || row.state.birth.session !== session) return null
  return {
    session,
    stamp: row.stamp,
    from: row.from,
    state: row.state,
  }
}

const parseSound = (bytes: Buffer): SavedFold | null => {
  try {
    return parseRow(bytes)
  } catch {
    return null
  }
}

/** The newest sound row of each session, and how many rows there are in all. */
export const readIndex = (
  fs: Fs,
  path: string,
): { readonly rows: ReadonlyMap<EventId, SavedFold>; readonly lines: number; readonly bytes: number } => {
  const rows = new Map<EventId, SavedFold>()
  const bytes = readWhole(fs, path)
  let lines = 0
  for (const line of linesBackward(bytes, 0)) {
    lines++
    const session = sessionIn(line)
    if (rows.has(session)) continue
    const row = parseSound(line)
    if (row !== null) rows.set(session, row)
  }
  return { rows, lines, bytes: bytes.length }
}

/** What is read at once, from the end: those who ask for one session mostly used it lately. */
const chunk = 64 * 1024

/** The newest sound row of one session. */
export const savedFoldOf = (fs: Fs, path: string, session: EventId): SavedFold | undefined => {
  try {
    const file = fs.open(path, 'read')
    try {
      return newestRow(file, session)
    } finally {
      file.close()
    }
  } catch {
    return undefined
  }
}

const newestRow = (file: FileHandle, session: EventId): SavedFold | undefined => {
  let rest: Buffer = Buffer.alloc(0)
  for (let from = file.stat().size; from > 0; ) {
    const length = Math.min(chunk, from)
    const bytes = Buffer.alloc(length)
    if (file.read(bytes, 0, length, from - length) !== length) return undefined
    from -= length
    const held = Buffer.concat([bytes, rest])
    // The first line of what is held may begin before it.
    const whole = from === 0 ? 0 : held.indexOf(0x0a) + 1
    if (from > 0 && whole === 0) {
      rest = held
      continue
    }
    for (const line of linesBackward(held, whole)) {
      const row = sessionIn(line) === session ? parseSound(line) : null
      if (row !== null) return row
    }
    rest = held.subarray(0, whole)
  }
  return undefined
}

/** The lines from a place to the end, last first, without their newlines. */
function* linesBackward(bytes: Buffer, from: number): Generator<Buffer> {
  for (let end = bytes.length; end > from; ) {
    // A negative place would count from the end.
    const start = end < 2 ? 0 : Math.max(from, bytes.lastIndexOf(0x0a, end - 2) + 1)
    yield bytes.subarray(start, bytes[end - 1] === 0x0a ? end - 1 : end)
    end = start
  }
}

const sessionIn = (line: Buffer): string => line.toString('latin1', head.length, head.length + 32)

const readWhole = (fs: Fs, path: string): Buffer => {
  try {
    const bytes = fs.readFile(path)
    return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  } catch {
    return Buffer.alloc(0)
  }
}

/** Whether what is appended begins a line of its own: a crash may have cut the last one short. */
export const endsLine = (file: FileHandle): boolean => {
  const { size } = file.stat()
  const last = Buffer.alloc(1)
  return size === 0 || file.read(last, 0, 1, size - 1) === 0 || last[0] === 0x0a
}

/** Appends rows. What cannot be written is not: the next listing folds again (INV-8), and a reader's store stays as it is. */
export const saveRows = (fs: Fs, path: string, folds: readonly SavedFold[]): void => {
  if (folds.length === 0) return
  try {
    const file = fs.open(path, 'create')
    try {
      file.write(
        Buffer.from(`${endsLine(file) ? '' : '\n'}${folds.map((fold) => `${rowOf(fold)}\n`).join('')}`),
      )
    } finally {
      file.close()
    }
  } catch {
    // A cache is only a cache.
  }
}

/** Rows beyond this many for each session are worth a rewrite, once the file is of some size (bytes). */
const staleShare = 4
const smallIndex = 256 * 1024

/** Writes the index anew with one row a session, where old rows have piled up. */
export const compactIndex = (fs: Fs, path: string, random: { hex(bytes: number): string }): void => {
  const { rows, lines, bytes } = readIndex(fs, path)
  if (bytes <= smallIndex || lines <= staleShare * Math.max(1, rows.size)) return
  try {
    rewriteIndex(fs, path, [...rows.values()], random)
  } catch {
    // A cache is only a cache.
  }
}

/** Puts a new index in the place of the old one. Throws the system's error, and leaves the old one then. */
export const rewriteIndex = (
  fs: Fs,
  path: string,
  folds: readonly SavedFold[],
  random: { hex(bytes: number): string },
): void => {
  const temporary = `${path}.${random.hex(4)}`
  try {
    const file = fs.open(temporary, 'new')
    try {
      const bytes = Buffer.from(folds.map((fold) => `${rowOf(fold)}\n`).join(''))
      if (file.write(bytes) !== bytes.length) throw new WriteFailed(path, new Error('the disk is full'))
    } finally {
      file.close()
    }
    fs.rename(temporary, path)
  } catch (error) {
    removeIfThere(fs, temporary)
    throw error
  }
}

/** Writes the index anew without the sessions' rows, old ones too: they held what was said. Throws as `rewriteIndex` does. */
export const dropRows = (
  fs: Fs,
  path: string,
  sessions: readonly EventId[],
  random: { hex(bytes: number): string },
): void => {
  const { rows, lines } = readIndex(fs, path)
  if (lines === 0) return
  rewriteIndex(
    fs,
    path,
    [...rows.values()].filter(({ session }) => !sessions.includes(session)),
    random,
  )
}

/** A power cut brings no earlier index back, which holds what was taken out of this one. Rejects with the system's error. */
export const settleIndex = async (fs: Fs, path: string): Promise<void> => {
  if (fs.stat(path) !== null) {
    const file = fs.open(path, 'read')
    try {
      await file.sync()
    } finally {
      file.close()
    }
  }
  await fs.syncDir(dirname(path))
}

const removeIfThere = (fs: Fs, path: string): void => {
  try {
    fs.remove(path)
  } catch {
    // Where nothing can be written, nothing was left.
  }
}
