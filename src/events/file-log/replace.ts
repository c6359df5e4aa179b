import { dirname, join } from 'node:path'
import { Damaged, Moved, StoreUnusable } from '../errors/index.js'
import type { Line } from '../line.js'
import type { FileHandle, Fs } from '../ports.js'
import type { Ports } from '../system.js'
import { newline } from './constants.js'
import { lock } from './lock.js'
import { noRoot } from './survey.js'

/** The file at the path, locked: not one that was renamed over meanwhile. */
export const openLocked = async (fs: Fs, path: string): Promise<FileHandle> => {
  for (;;) {
    const file = open(fs, path)
    try {
      await lock(file, 'exclusive')
      const [held, there] = [file.stat(), fs.stat(path)]
      if (there === null) throw new Moved(path)
      if (held.dev === there.dev && held.ino === there.ino) return file
    } catch (error) {
      file.close()
      throw error
    }
    file.close()
  }
}

const open = (fs: Fs, path: string): FileHandle => {
  try {
    return fs.open(path, 'append')
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'ENOENT') throw fs.stat(dirname(path)) === null ? new Moved(path) : new Damaged(path, noRoot)
    throw new StoreUnusable(`the log cannot be written (${code})`, path, 'check its permissions', error)
  }
}

/** How the file is named that a log is written to before it takes the old one's place; a crash may leave it. */
export const replacing = '.new-log-'

/**
 * Puts a log of these lines in the place of the one at the path, which the caller holds locked: written and synced under
 * another name, then renamed over it (docs/FORMAT.md). `mayGoOn` is asked last of all, and throws where it must not be.
 */
export const replaceLog = async (
  path: string,
  lines: readonly Line[],
  { fs, random }: Ports,
  mayGoOn: () => void = () => {},
): Promise<void> => {
  const temporary = join(dirname(path), `${replacing}${random.hex(4)}`)
  const file = fs.open(temporary, 'new')
  try {
    await lock(file, 'exclusive')
    for (const line of lines) {
      const bytes = Buffer.concat([line.bytes, Buffer.of(newline)])
      if (file.write(bytes) !== bytes.length)
        throw new StoreUnusable('the disk is full', path, 'free some space, then try again')
    }
    await file.sync()
    mayGoOn()
    fs.rename(temporary, path)
    await fs.syncDir(dirname(path))
  } catch (error) {
    fs.remove(temporary)
    throw error
  } finally {
    file.close()
  }
}
