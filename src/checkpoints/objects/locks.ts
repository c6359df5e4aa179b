import { dirname } from 'node:path'
import { lock } from '../../events/file-log/lock.js'
import type { Fs } from '../../events/ports.js'

/** Runs something under a kernel lock on a file, which is let go whatever happens, a crash too. */
export const withLock = async <T>(
  fs: Fs,
  path: string,
  kind: 'shared' | 'exclusive',
  run: () => Promise<T>,
  deadline = 30_000,
): Promise<T> => {
  fs.makeDir(dirname(path))
  const file = fs.open(path, 'create')
  try {
    await lock(file, kind, () => null, deadline)
    return await run()
  } finally {
    file.close()
  }
}
