import { dirname } from 'node:path'
import { LogLostTail, Moved } from '../errors/index.js'
import type { EventId } from '../event.js'
import type { Line } from '../line.js'
import type { Fs } from '../ports.js'
import { readForward } from './read-forward.js'

/** A change may go untold by the system (network file systems): look at least this often (ms). */
const pollEvery = 500

interface Place {
  readonly identity: string
  /** Where the next line begins. */
  readonly offset: number
  readonly last: EventId | null
  /** The file's size when it was last read: a torn tail is not read again until something changes. */
  readonly size: number
}

/**
 * Lines as they come. The place in the file is a byte offset as long as the file is the same; a file that was put in
 * its place is read from its start up to the last line given, by id. A file that is gone ends the watch with Moved.
 */
export async function* watchFile(
  fs: Fs,
  path: string,
  session: EventId,
  { after, signal }: { readonly after?: EventId; readonly signal: AbortSignal },
): AsyncGenerator<readonly Line[]> {
  const wake = wakeUp(fs, dirname(path), signal)
  try {
    let place: Place =
      after === undefined ? await endOf(fs, path) : { identity: '', offset: 0, last: after, size: -1 }
    while (!signal.aborted) {
      const { lines, next } = await news(fs, path, session, place)
      place = next
      if (lines.length > 0) yield lines
      else await wake.next()
    }
  } finally {
    wake.stop()
  }
}

const identityOf = (fs: Fs, path: string): string => {
  const stat = fs.stat(path)
  if (stat === null) throw new Moved(path)
  return `${stat.dev}:${stat.ino}`
}

const endOf = async (fs: Fs, path: string): Promise<Place> => {
  const { next } = await readFrom(fs, path, {
    identity: identityOf(fs, path),
    offset: 0,
    last: null,
    size: -1,
  })
  return next
}

const news = async (
  fs: Fs,
  path: string,
  session: EventId,
  place: Place,
): Promise<{ readonly lines: readonly Line[]; readonly next: Place }> => {
  const identity = identityOf(fs, path)
  if (identity === place.identity) return readFrom(fs, path, place)
  const { lines, next } = await readFrom(fs, path, { identity, offset: 0, last: null, size: -1 })
  if (place.last === null) return { lines, next }
  const seen = lines.findLastIndex(({ id }) => id === place.last)
  if (seen < 0) throw new LogLostTail(session, place.last)
  return { lines: lines.slice(seen + 1), next }
}

const readFrom = async (
  fs: Fs,
  path: string,
  place: Place,
): Promise<{ readonly lines: readonly Line[]; readonly next: Place }> => {
  const size = fs.stat(path)?.size ?? 0
  if (size === place.size) return { lines: [], next: place }
  const file = fs.open(path, 'read')
  try {
    const lines: Line[] = []
    for await (const batch of readForward(file, { from: place.offset })) lines.push(...batch)
    const last = lines[lines.length - 1]
    if (last === undefined) return { lines, next: { ...place, size } }
    // A last line still without its newline is an event; the newline then stands before the next line.
    const end = last.offset + last.bytes.length
    const offset = end < file.stat().size ? end + 1 : end
    return { lines, next: { ...place, offset, last: last.id, size } }
  } finally {
    file.close()
  }
}

/** Wakes on a change in the folder, on the clock, or on abort. */
const wakeUp = (
  fs: Fs,
  folder: string,
  signal: AbortSignal,
): { readonly next: () => Promise<void>; readonly stop: () => void } => {
  let wake: () => void = () => {}
  let isDue = false
  const due = (): void => {
    isDue = true
    wake()
  }
  const unwatch = fs.watch(folder, due)
  const timer = setInterval(due, pollEvery)
  signal.addEventListener('abort', due)
  return {
    next: () =>
      new Promise<void>((resolve) => {
        wake = resolve
        if (isDue || signal.aborted) resolve()
      }).then(() => {
        isDue = false
      }),
    stop: () => {
      unwatch()
      clearInterval(timer)
      signal.removeEventListener('abort', due)
    },
  }
}
