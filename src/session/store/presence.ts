import { hostname } from 'node:os'
import { dirname, join } from 'node:path'
import { Moved, StoreUnusable, Tagged } from '../../events/errors/index.js'
import { refuseLink } from '../../events/file-log/links.js'
import { makeInside } from '../../events/file-log/make-inside.js'
import type { FileHandle, Fs } from '../../events/ports.js'
import type { Ports } from '../../events/system.js'

/** Who holds a session open for writing. */
export interface Presence {
  readonly pid: number
  readonly host: string
  /** ISO 8601. */
  readonly since: string
}

/** A held presence: `release` lets go of the lock and takes the file away. */
export interface Held {
  readonly name: string
  release(): void
}

/** Says that this process holds the session open for writing, by a file under a kernel lock, which dies with the process. */
export const hold = (folder: string, ports: Ports): Held => {
  try {
    return holding(folder, ports)
  } catch (error) {
    if (error instanceof Tagged) throw error
    const session = dirname(folder)
    if (ports.fs.stat(session) === null) throw new Moved(session)
    const { code } = error as NodeJS.ErrnoException
    throw new StoreUnusable(
      `the session cannot be opened for writing (${code})`,
      folder,
      'check the permissions and the disk',
      error,
    )
  }
}

const holding = (folder: string, ports: Ports): Held => {
  const { fs, clock, random } = ports
  refuseLink(fs, folder)
  makeInside(folder, ports)
  const name = `${process.pid}-${random.hex(4)}.json`
  const path = join(folder, name)
  // Under its name only once it is locked: a file without a lock is swept away.
  const file = fs.open(`${path}.new`, 'new')
  try {
    file.tryLock('exclusive')
    const who: Presence = { pid: process.pid, host: hostname(), since: new Date(clock.now()).toISOString() }
    file.write(Buffer.from(JSON.stringify(who)))
    fs.rename(`${path}.new`, path)
  } catch (error) {
    file.close()
    fs.remove(`${path}.new`)
    throw error
  }
  return {
    name,
    release: () => {
      try {
        file.close()
        fs.remove(path)
      } catch {
        // Without its lock it says nothing: the next opener sweeps it away.
      }
    },
  }
}

/** Everyone else who holds it. A file without a lock is what a dead process left: it is taken away where that is allowed. */
export const others = (folder: string, fs: Fs, own?: string): readonly Presence[] => {
  refuseLink(fs, folder)
  return fs
    .readDir(folder)
    .filter((name) => name.endsWith('.json') && name !== own)
    .flatMap((name) => {
      const path = join(folder, name)
      return isAlive(path, fs) ? [readPresence(path, name, fs)] : []
    })
}

const isAlive = (path: string, fs: Fs): boolean => {
  let file: FileHandle
  try {
    file = fs.open(path, 'read')
  } catch (error) {
    return !isNone.has((error as NodeJS.ErrnoException).code ?? '')
  }
  try {
    if (!file.tryLock('shared')) return true
  } catch {
    file.close()
    return true
  }
  try {
    fs.remove(path)
  } catch {
    // A store that can only be read is swept by someone else.
  }
  file.close()
  return false
}

/** Nothing is there that a process could hold; whatever else cannot be looked at (too many open files, say) may be held. */
const isNone: ReadonlySet<string> = new Set(['ENOENT', 'ENOTDIR', 'EISDIR', 'ELOOP'])

const readPresence = (path: string, name: string, fs: Fs): Presence => {
  const pid = Number.parseInt(name, 10)
  try {
    const read = JSON.parse(Buffer.from(fs.readFile(path)).toString()) as Partial<Presence>
    return { pid, host: String(read.host ?? ''), since: String(read.since ?? '') }
  } catch {
    return { pid, host: '', since: '' }
  }
}

/** The process that holds it, for the words of an error. */
export const holder = (folder: string, fs: Fs): number | null =>
  others(folder, fs).find(({ pid }) => pid !== process.pid)?.pid ?? null
