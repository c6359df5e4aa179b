import { dirname } from 'node:path'
import { lock } from '../../events/file-log/lock.js'
import type { FileHandle, Fs } from '../../events/ports.js'

/** Runs something under a kernel lock on a file, which is let go whatever happens, a crash too. */
export const withLock = async <T>(
  fs: Fs,
  path: string,
  kind: 'shared' | 'exclusive',
  run: () => Promise<T>,
  deadline = 30_000,
): Promise<T> => {
  const file = opened(fs, path)
  try {
    await lock(file, kind, () => null, deadline)
    return await run()
  } finally {
    file.close()
  }
}

/** It is there but for the first time: to make what may be there costs a look more. */
const opened = (fs: Fs, path: string): FileHandle => {
  try {
    return fs.open(path, 'append')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
    fs.makeDir(dirname(path))
    return fs.open(path, 'create')
  }
}
