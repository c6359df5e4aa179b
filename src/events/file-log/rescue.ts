import { dirname } from 'node:path'
import { Damaged, SyncFailed } from '../errors/index.js'
import type { FileHandle, Fs } from '../ports.js'
import type { Ports } from '../system.js'
import { forwardChunk, privateFile, unsyncedMark } from './constants.js'
import { readFully } from './scan.js'
import { survey } from './survey.js'

/**
 * After a failed sync the page cache may show bytes that the disk does not hold, and a later sync may say all is well.
 * So the log is read again, proved, copied to a new file, synced, and renamed over the old one, while both are locked.
 * Other writers notice that their handle is no longer the file at the path.
 */
export const rescue = async (old: FileHandle, path: string, { fs, random }: Ports): Promise<void> => {
  const { damage, size } = survey(old)
  if (damage !== null) throw new Damaged(path, damage)
  const copyPath = `${path}.${random.hex(4)}`
  const copy = fs.open(copyPath, 'new')
  try {
    copy.tryLock('exclusive')
    copyBytes(old, copy, size)
    await copy.sync()
    fs.rename(copyPath, path)
    await syncEntry(copy, path, fs)
  } catch (error) {
    fs.remove(copyPath)
    throw new SyncFailed(path, error)
  } finally {
    copy.close()
  }
}

/** Until the folder entry is on disk the new file is no better than the old one, and marked like it. */
const syncEntry = async (copy: FileHandle, path: string, fs: Fs): Promise<void> => {
  try {
    await fs.syncDir(dirname(path))
  } catch (error) {
    copy.chmod(privateFile | unsyncedMark)
    throw error
  }
}

const copyBytes = (from: FileHandle, to: FileHandle, size: number): void => {
  for (let at = 0; at < size; ) {
    const bytes = readFully(from, at, Math.min(forwardChunk, size - at))
    if (bytes.length === 0 || to.write(bytes) !== bytes.length)
      throw new Error(`copied ${at} of ${size} bytes`)
    at += bytes.length
  }
}
