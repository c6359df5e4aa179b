import { Locked, LocksUnsupported } from '../errors/index.js'
import type { FileHandle, LockName } from '../ports.js'
import { lockDeadline, lockPause } from './constants.js'

const unsupported = new Set(['ENOLCK', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EINVAL'])

/** One try; a file system without locks is told by its own error. */
export const tryLock = (file: FileHandle, kind: 'shared' | 'exclusive', which?: LockName): boolean => {
  try {
    return file.tryLock(kind, which)
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
  if (tryLock(file, kind)) return
  let isQueued = false
  let waited = 0
  try {
    for (let pause = 1; !tryLock(file, kind); pause = Math.min(pause * 2, lockPause)) {
      if (waited >= deadline) throw new Locked(file.path, holder(), deadline)
      isQueued ||= tryLock(file, 'shared', 'queue')
      await sleep(pause)
      waited += pause
    }
  } finally {
    if (isQueued) file.unlock('queue')
  }
}

/**
 * Waits while someone else waits for the lock: a kernel lock that is let go and taken again at once would else be seen
 * free by no one, and a busy writer keep out all others. No longer than the longest pause between two of their tries.
 * This process's own timers and signals get their turn too, which appends without a sync would else put off for ever.
 */
export const giveWay = async (file: FileHandle): Promise<void> => {
  await new Promise((resolve) => setImmediate(resolve))
  for (let waited = 0; waited < 2 * lockPause; waited++) {
    if (tryLock(file, 'exclusive', 'queue')) {
      file.unlock('queue')
      return
    }
    await sleep(1)
  }
}

const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))
