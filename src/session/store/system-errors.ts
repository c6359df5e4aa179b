import { StoreUnusable, Tagged } from '../../events/errors/index.js'

/** What helps against a failure of the system, by its code. */
const hints: Readonly<Record<string, string>> = {
  ENOSPC: 'free some space, then try again',
  EDQUOT: 'free some space, then try again',
  EROFS: 'it can only be read there: use a copy that can be written',
}

/** An error of the system as one of the engine's own, which says what failed, where, and what to do; others as they are. */
const ofEngine = (error: unknown, root: string): unknown => {
  const { code, syscall, path } = error as NodeJS.ErrnoException
  if (error instanceof Tagged || code === undefined || syscall === undefined) return error
  const hint = hints[code] ?? 'check its permissions and its disk, then try again'
  return new StoreUnusable(`the system refused it (${syscall}: ${code})`, path ?? root, hint, error)
}

/** Runs what works on the files of a store as a whole. Rejects with tagged errors, whatever the disk says. */
export const telling = async <T>(root: string, run: () => Promise<T>): Promise<T> => {
  try {
    return await run()
  } catch (error) {
    throw ofEngine(error, root)
  }
}
