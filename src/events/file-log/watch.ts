import { dirname } from 'node:path'
import { LogLostTail, Moved } from '../errors/index.js'
import type { EventId } from '../event.js'
import type { Line } from '../line.js'
import type { FileHandle, Fs } from '../ports.js'
import { readBackward } from './read-backward.js'
import { readForward } from './read-forward.js'

/** A change may go untold by the system (network file systems): look at least this often (ms). */
const pollEvery = 500

interface Place {
  /** Which file it is a place in; the file's size when it was last read: nothing is read again until one changes. */
  readonly identity: string
  readonly size: number
  /** Just after the last line given, its newline not counted. */
  readonly offset: number
  readonly last: EventId
}

/**
 * Lines as they come. The place in the file is a byte offset as long as the file is the same; in a file that was put in
 * its place, the last line given is looked for by id. A file that is gone ends the watch with Moved.
 */
export async function* watchFile(
  fs: Fs,
  path: string,
  session: EventId,
  { after, signal }: { readonly after?: EventId; readonly signal: AbortSignal },
): AsyncGenerator<readonly Line[]> {
  let place = await opened(fs, path, (file) => placeOf(file, session, after ?? null))
  const wake = wakeUp(fs, dirname(path), signal)
  try {
    while (!signal.aborted) {
      const stat = fs.stat(path)
      if (stat === null) throw new Moved(path)
      if (stat.size === place.size && identityOf(stat) === place.identity) {
        await wake.next()
        continue
      }
      const file = openThere(fs, path)
      try {
        if (identityOf(file.stat()) !== place.identity) place = await placeOf(file, session, place.last)
        place = { ...place, size: file.stat().size }
        for await (const lines of readForward(file, { from: place.offset })) {
          place = { ...place, ...endOf(lines) }
          yield lines
          if (signal.aborted) return
        }
      } finally {
        file.close()
      }
    }
  } finally {
    wake.stop()
  }
}

const identityOf = ({ dev, ino }: { readonly dev: number; readonly ino: number }): string => `${dev}:${ino}`

const opened = async <T>(fs: Fs, path: string, use: (file: FileHandle) => Promise<T>): Promise<T> => {
  const file = fs.open(path, 'read')
  try {
    return await use(file)
  } finally {
    file.close()
  }
}

const openThere = (fs: Fs, path: string): FileHandle => {
  try {
    return fs.open(path, 'read')
  } catch (error) {
    throw (error as NodeJS.ErrnoException).code === 'ENOENT' ? new Moved(path) : error
  }
}

/** The place after an event, looked for from the end; `after` null: after the last one. */
const placeOf = async (file: FileHandle, session: EventId, after: EventId | null): Promise<Place> => {
  const identity = identityOf(file.stat())
  for await (const lines of readBackward(file)) {
    const line = after === null ? lines[0] : lines.find(({ id }) => id === after)
    // Of no size yet: what stands after the event is still to be read.
    if (line !== undefined) return { identity, size: -1, ...endOf([line]) }
  }
  throw new LogLostTail(session, after ?? '')
}

const endOf = (lines: readonly Line[]): Pick<Place, 'offset' | 'last'> => {
  const line = lines[lines.length - 1] as Line
  return { offset: line.offset + line.bytes.length, last: line.id }
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
