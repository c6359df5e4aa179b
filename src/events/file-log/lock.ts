import { Locked, LocksUnsupported } from '../errors/index.js'
import type { FileHandle } from '../ports.js'
import { lockDeadline, lockPause } from './constants.js'

const unsupported = new Set(['ENOLCK', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EINVAL'])

/** One try; a file system without locks is told by its own error. */
export const tryLock = (file: FileHandle, kind: 'shared' | 'exclusive'): boolean => {
  try {
    return file.tryLock(kind)
  } catch (error) {
    if (unsupported.has((error as NodeJS.ErrnoException).code ?? ''))
      throw new LocksUnsupported(file.path, error)
    throw error
  }
}

/** Tries with growing pauses until the deadline (ms); then rejects with Locked, naming the holder where it is known. */
export const lock = async (
  file: FileHandle,
  kind: 'shared' | 'exclusive',
  holder: () => number | null = () => null,
  deadline: number = lockDeadline,
): Promise<void> => {
  let waited = 0
  for (let pause = 1; !tryLock(file, kind); pause = Math.min(pause * 2, lockPause)) {
    if (waited >= deadline) throw new Locked(file.path, holder(), deadline)
    await new Promise((resolve) => setTimeout(resolve, pause))
    waited += pause
  }
}
