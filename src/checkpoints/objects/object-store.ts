import type { Commit, GitObject, ObjectKind, TreeEntry } from './git-format.js'

/**
 * Where the bytes of checkpoints live: content-addressed objects as git has them, and refs. The engine knows this port
 * alone, so that another backend can stand behind it. Everything that resolved is on disk.
 */
export interface ObjectStore {
  has(oid: string): boolean
  /** A whole object, its bytes proved by its name. Rejects with ObjectDamaged. */
  read(oid: string): Promise<GitObject>
  /** A blob's bytes piece by piece; the last one comes only where all of them are what the name says. */
  stream(oid: string): AsyncIterable<Uint8Array>
  readTree(oid: string): Promise<readonly TreeEntry[]>
  readCommit(oid: string): Promise<Commit>
  ref(name: string): string | null
  refs(prefix?: string): ReadonlyMap<string, string>
  /** Writes objects while no `gc` can run beside: what `write` adds is durable once its promise resolved. */
  writing<T>(write: (batch: ObjectBatch) => Promise<T>): Promise<T>
  /**
   * Moves refs, one process at a time: `move` reads them as they stand and gives what they should be (null: gone). `first`
   * makes durable what they will point to: no ref moves before it resolved.
   */
  moveRefs(
    move: () => Promise<ReadonlyMap<string, string | null>>,
    first?: () => Promise<void>,
  ): Promise<void>
}

/** Objects on their way to the disk. Until `flush` resolved they are nowhere but in memory, large ones apart. */
export interface ObjectBatch {
  has(oid: string): boolean
  add(kind: ObjectKind, bytes: Uint8Array): Promise<string>
  /** A large blob, whose source can be read again; null where it gave another number of bytes than `size`. */
  addStream(size: number, source: () => AsyncIterable<Uint8Array>): Promise<string | null>
  flush(): Promise<void>
}
