import { dirname, join } from 'node:path'
import { StoreUnusable } from '../../events/errors/store-unusable.js'
import type { Fs } from '../../events/ports.js'

/** What a ref is before it has its name; such a file is also what its lock is linked to. */
export const waitingRef = 'tmp_ref_'

/** How long a git that is at work on a ref is waited for, and between two looks (ms). */
const deadline = 15_000
const pause = 20

/** Disks without hard links say so in one of these ways. */
const noLinks = ['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EMLINK', 'EXDEV']

/**
 * Git's locks of refs: whoever makes `NAME.lock` may change NAME. Git packs refs and then removes their files, and would
 * remove what was written meanwhile. A lock of ours is a second name of a file that waits, so that one which a crash left
 * behind is known as ours. Whoever calls holds the lock of the refs, so no other of ours is at work.
 */
export class RefLocks {
  constructor(
    readonly fs: Fs,
    readonly folder: string,
  ) {}

  /** Gives a waiting file a ref's lock as its second name; false on a disk without hard links. */
  async take(waiting: string, name: string): Promise<boolean> {
    const lock = this.#lockOf(name)
    for (let waited = 0; ; waited += pause) {
      try {
        this.fs.link(join(this.folder, waiting), lock)
        return true
      } catch (error) {
        const { code = '' } = error as NodeJS.ErrnoException
        if (noLinks.includes(code)) return false
        // After git cleared an empty folder away, or for the first ref of its kind.
        if (code === 'ENOENT' && this.fs.stat(dirname(lock)) === null) this.fs.makeDir(dirname(lock))
        else if (code !== 'EEXIST') throw error
        else if (this.#isLeft(lock, waiting)) this.fs.remove(lock)
        else if (waited < deadline) await new Promise((resolve) => setTimeout(resolve, pause))
        else throw inUse(lock, error)
      }
    }
  }

  /** The ref gets what its lock holds. */
  place(name: string): void {
    this.fs.rename(this.#lockOf(name), join(this.folder, name))
  }

  release(name: string): void {
    this.fs.remove(this.#lockOf(name))
  }

  /** Removes what a crash left behind. */
  tidy(names: readonly string[]): void {
    for (const name of names) if (this.#isLeft(this.#lockOf(name), null)) this.release(name)
    for (const name of this.#waiting()) this.fs.remove(join(this.folder, name))
  }

  /** Whether a lock is one of ours that nobody holds any more. */
  #isLeft(lock: string, mine: string | null): boolean {
    const held = this.fs.stat(lock)
    return (
      held !== null &&
      this.#waiting().some((name) => name !== mine && this.fs.stat(join(this.folder, name))?.ino === held.ino)
    )
  }

  #waiting(): readonly string[] {
    return this.fs.readDir(this.folder).filter((name) => name.startsWith(waitingRef))
  }

  #lockOf(name: string): string {
    return join(this.folder, `${name}.lock`)
  }
}

const inUse = (lock: string, cause: unknown): Error =>
  new StoreUnusable(
    'git holds a lock of the checkpoints, or left it behind',
    lock,
    'where no git is at work on that repository, remove the file; then try again',
    cause,
  )
