/** What stands at a path, symlinks not followed. */
export interface Entry {
  readonly kind: 'file' | 'link' | 'folder' | 'other'
  readonly dev: string
  readonly ino: string
  readonly size: number
  /** Permission bits. */
  readonly mode: number
  /** Of change to bytes and to anything, in ms; and the birth, 0 where the file system knows none. */
  readonly mtimeMs: number
  readonly ctimeMs: number
  readonly birthMs: number
  /** Differs where anything of the file changed: device, inode, size, mode, and both times to the nanosecond. */
  readonly stamp: string
}

/** An open file of the user's. Failures throw Node's error with its `code`. */
export interface WorkFile {
  /** Bytes read, 0 at the end. */
  read(buffer: Uint8Array, position: number): number
  /** Writes all of it at the end. */
  write(bytes: Uint8Array): void
  stat(): Entry
  chmod(mode: number): void
  sync(): Promise<void>
  close(): void
}

export interface Named {
  readonly name: string
  readonly kind: Entry['kind']
  /** false: the name is not UTF-8, and `name` is only how it would be shown. */
  readonly isExact: boolean
}

/** The user's own files, as the engine reaches them. The tests put a faulty one in its place. */
export interface WorkFs {
  /** null where there is nothing, also below what is no folder. */
  lstat(path: string): Entry | null
  /** The real path of a folder; null where there is none. */
  realPath(path: string): string | null
  /** Why no name in a folder can be made or removed by us, the system's code for it; null where they can. */
  whyFixed(folder: string): string | null
  readLink(path: string): Uint8Array
  makeLink(target: Uint8Array, path: string): void
  /** `read` opens no symlink; `new` must not exist and is made with the mode 0600. */
  open(path: string, mode: 'read' | 'new'): WorkFile
  /** Sorted by name. */
  readDir(path: string): readonly Named[]
  rename(from: string, to: string): void
  /** A second name of a file; fails where there is something already. */
  link(from: string, to: string): void
  unlink(path: string): void
  makeDir(path: string, mode: number): void
  /** An empty folder only. */
  removeDir(path: string): void
  /** Makes the entries of a folder durable, where the system can. */
  syncDir(path: string): Promise<void>
  /** The clock that stamps files, in ms since 1970. */
  now(): number
}
