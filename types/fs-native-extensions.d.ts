/** The part of fs-native-extensions that Coppice uses: the package ships no types. Offsets and lengths are in bytes. */
declare module 'fs-native-extensions' {
  interface LockOptions {
    /** A shared (read) lock; an exclusive one by default, which needs a handle that is open for writing. */
    shared?: boolean
  }

  /** False where another open file holds the lock. Length 0 reaches to the end of the file, however long. */
  export function tryLock(fd: number, offset?: number, length?: number, options?: LockOptions): boolean
  export function waitForLock(
    fd: number,
    offset?: number,
    length?: number,
    options?: LockOptions,
  ): Promise<void>
  /** False where it was not granted: the lock that was held is then lost. */
  export function tryDowngradeLock(fd: number, offset?: number, length?: number): boolean
  /** False where it was not granted: the lock that was held is then lost. */
  export function tryUpgradeLock(fd: number, offset?: number, length?: number): boolean
  export function unlock(fd: number, offset?: number, length?: number): void
}
