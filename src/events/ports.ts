/** Milliseconds since 1970, UTC. */
export interface Clock {
  now(): number
}

/** Randomness for nonces and temporary names: `hex(n)` gives n random bytes as hex. */
export interface Random {
  hex(bytes: number): string
}

/** What the engine asks of `stat`. `mode` holds the permission bits only. */
export interface FileStat {
  readonly dev: number
  readonly ino: number
  readonly size: number
  readonly mtimeMs: number
  readonly mode: number
  /** Who owns it; left out where files have no owner. */
  readonly uid?: number
  readonly isDirectory: boolean
  readonly isFile: boolean
}

/**
 * An open file. Reads and writes are synchronous, since the page cache answers them faster than a thread pool would;
 * syncs, which wait for a disk, are not. Failures throw Node's error with its `code`.
 */
export interface FileHandle {
  readonly path: string
  /** Bytes read, 0 at the end. */
  read(buffer: Uint8Array, offset: number, length: number, position: number): number
  /** Appends, and gives the count of bytes that the system took, which may be less. */
  write(bytes: Uint8Array): number
  stat(): FileStat
  chmod(mode: number): void
  /** fdatasync: resolves when the bytes and the size are on disk. */
  sync(): Promise<void>
  /**
   * Takes a kernel lock of the file, or says false where someone else holds it. Held until `unlock` or `close`. `which`:
   * the lock itself, or the one beside it by which those who wait for it say so.
   */
  tryLock(kind: 'shared' | 'exclusive', which?: LockName): boolean
  unlock(which?: LockName): void
  close(): void
}

export type LockName = 'log' | 'queue'

/** None follows a symlink. `read`: must exist. `append`: must exist, read and append. `create`: the same, made 0600 where absent. `new`: must not exist. */
export type OpenMode = 'read' | 'append' | 'create' | 'new'

/** The file system, as the engine uses it. The tests put a faulty one in its place. */
export interface Fs {
  open(path: string, mode: OpenMode): FileHandle
  /** null where there is nothing. Follows symlinks. */
  stat(path: string): FileStat | null
  /** Whether a symlink stands there; left out where there are none. */
  isLink?(path: string): boolean
  readFile(path: string): Uint8Array
  /** Names, sorted; [] where the folder does not exist. */
  readDir(path: string): readonly string[]
  /** The same without symlinks, by one look at the folder; where it is left out, `isLink` is asked of each. */
  readDirNoLinks?(path: string): readonly string[]
  /** Makes the folder and its parents, 0700, and syncs what it made into their parents. */
  makeDir(path: string): void
  rename(from: string, to: string): void
  link(from: string, to: string): void
  /** Removes a file, or a folder with all it holds; nothing happens where there is none. */
  remove(path: string): void
  /** Makes the entries of a folder durable. */
  syncDir(path: string): Promise<void>
  /** Calls back when something in the folder changed; may call too often, or be late. Gives the way to stop. */
  watch(path: string, onChange: () => void): () => void
}
