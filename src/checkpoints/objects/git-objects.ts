import { createHash } from 'node:crypto'
import { join } from 'node:path'
import type { Fs, Random } from '../../events/ports.js'
import { ObjectDamaged } from '../errors/object-damaged.js'
import { Batch, type Linked } from './batch.js'
import {
  type Commit,
  decodeCommit,
  decodeTree,
  type GitObject,
  headerOf,
  oidOf,
  type TreeEntry,
} from './git-format.js'
import { withLock } from './locks.js'
import { Loose } from './loose.js'
import { isMergeDue, mergeSmallPacks } from './merge-packs.js'
import type { ObjectBatch, ObjectStore } from './object-store.js'
import { Packs } from './packs.js'
import { Refs } from './refs.js'
import { prepareRepository } from './repository.js'

/** Trees that were read or written lately: the same ones are asked for again with each checkpoint. */
const heldTrees = 2000
/** Commits: their tips, of the sessions at work. */
const heldCommits = 100

/**
 * The object store in a bare git repository, written in this process: a pack for each batch of small objects, a file for
 * each large blob. Nothing of git's configuration or of the user's identity is read.
 */
export class GitObjects implements ObjectStore {
  readonly packs: Packs
  readonly loose: Loose
  readonly #refs: Refs
  readonly #trees = new Map<string, readonly TreeEntry[]>()
  readonly #commits = new Map<string, Commit>()

  /** `folder`: the bare repository. `locks`: where its lock files stand. */
  constructor(
    readonly fs: Fs,
    readonly random: Random,
    readonly folder: string,
    readonly locks: string,
  ) {
    this.packs = new Packs(fs, join(folder, 'objects', 'pack'))
    this.loose = new Loose(fs, random, join(folder, 'objects'))
    this.#refs = new Refs(fs, random, folder)
  }

  has(oid: string): boolean {
    return this.packs.has(oid) || this.loose.has(oid)
  }

  async read(oid: string): Promise<GitObject> {
    const found = await this.#twice(oid, async () => {
      const inPack = this.packs.read(oid)
      if (inPack !== null) return inPack
      const opened = await this.loose.open(oid)
      if (opened === null) return null
      const pieces: Buffer[] = []
      for await (const piece of opened.pieces) pieces.push(piece)
      return { kind: opened.kind, bytes: Buffer.concat(pieces) }
    })
    if (oidOf(found.kind, found.bytes) !== oid) throw new ObjectDamaged(oid, this.folder, 'damaged')
    return found
  }

  async *stream(oid: string): AsyncIterable<Uint8Array> {
    const { kind, size, pieces } = await this.#twice(
      oid,
      async () => this.packs.open(oid) ?? this.loose.open(oid),
    )
    const hash = createHash('sha1').update(headerOf(kind, size))
    let held: Buffer | null = null
    for await (const piece of provable(
      pieces,
      (error) => new ObjectDamaged(oid, this.folder, 'damaged', error),
    )) {
      hash.update(piece)
      if (held !== null) yield held
      held = piece
    }
    if (hash.digest('hex') !== oid) throw new ObjectDamaged(oid, this.folder, 'damaged')
    if (held !== null) yield held
  }

  async readTree(oid: string): Promise<readonly TreeEntry[]> {
    const held = this.#trees.get(oid)
    if (held !== undefined) return held
    return hold(this.#trees, oid, decodeTree((await this.read(oid)).bytes), heldTrees)
  }

  async readCommit(oid: string): Promise<Commit> {
    const held = this.#commits.get(oid)
    if (held !== undefined) return held
    return hold(this.#commits, oid, decodeCommit((await this.read(oid)).bytes), heldCommits)
  }

  #learn({ oid, kind, bytes }: Linked): void {
    const copy = Buffer.from(bytes)
    if (kind === 'tree') hold(this.#trees, oid, decodeTree(copy), heldTrees)
    else hold(this.#commits, oid, decodeCommit(copy), heldCommits)
  }

  ref(name: string): string | null {
    return this.#refs.read(name)
  }

  refs(prefix?: string): ReadonlyMap<string, string> {
    return this.#refs.list(prefix)
  }

  async writing<T>(write: (batch: ObjectBatch) => Promise<T>): Promise<T> {
    await prepareRepository(this.fs, this.random, this.folder)
    const result = await withLock(this.fs, this.#objectsLock, 'shared', () => {
      // Another process may have packed anew, or freed what nothing reached.
      this.packs.refresh()
      return write(new Batch(this.fs, this.random, this.packs, this.loose, (linked) => this.#learn(linked)))
    })
    if (isMergeDue(this.packs)) await this.#merge()
    return result
  }

  moveRefs(
    move: () => Promise<ReadonlyMap<string, string | null>>,
    first: () => Promise<void> = async () => {},
  ): Promise<void> {
    return withLock(this.fs, join(this.locks, 'refs.lock'), 'exclusive', async () =>
      this.#refs.write(await move(), first),
    )
  }

  /** Removes what a crash left of refs half-written. */
  tidyRefs(): Promise<void> {
    return withLock(this.fs, join(this.locks, 'refs.lock'), 'exclusive', async () => this.#refs.tidy())
  }

  /** What each object takes on disk (bytes). */
  sizes(): ReadonlyMap<string, number> {
    const loose = this.loose
      .oids()
      .map((oid) => [oid, this.fs.stat(this.loose.pathOf(oid))?.size ?? 0] as const)
    return new Map([...this.packs.sizes(), ...loose])
  }

  /** Runs something while no other process writes objects. */
  alone<T>(run: () => Promise<T>, deadline?: number): Promise<T> {
    return withLock(
      this.fs,
      this.#objectsLock,
      'exclusive',
      async () => {
        this.packs.reload()
        try {
          return await run()
        } finally {
          this.packs.reload()
          this.#trees.clear()
          this.#commits.clear()
        }
      },
      deadline,
    )
  }

  get #objectsLock(): string {
    return join(this.locks, 'objects.lock')
  }

  /**
   * Not now where another process writes, or git removes the packs meanwhile: it will be tried with the next checkpoint. What
   * was to be written is written, so nothing that fails here fails that.
   */
  async #merge(): Promise<void> {
    await this.alone(() => mergeSmallPacks(this.fs, this.random, this.packs), 0).catch(() => undefined)
  }

  /** Looks, and looks again at the folder as it is now: another process may have packed anew meanwhile. */
  async #twice<T>(oid: string, look: () => Promise<T | null>): Promise<T> {
    for (const isLast of [false, true]) {
      try {
        const found = await look()
        if (found !== null) return found
      } catch (error) {
        if (isLast || (error as NodeJS.ErrnoException).code !== 'ENOENT')
          throw new ObjectDamaged(oid, this.folder, 'damaged', error)
      }
      this.packs.reload()
    }
    throw new ObjectDamaged(oid, this.folder, 'missing')
  }
}

const hold = <T>(cache: Map<string, T>, oid: string, value: T, most: number): T => {
  if (cache.size >= most) cache.clear()
  cache.set(oid, value)
  return value
}

async function* provable(pieces: AsyncIterable<Buffer>, damaged: (error: unknown) => Error) {
  const iterator = pieces[Symbol.asyncIterator]()
  try {
    for (;;) {
      const next = await iterator.next().catch((error: unknown) => {
        throw damaged(error)
      })
      if (next.done === true) return
      yield next.value
    }
  } finally {
    await iterator.return?.()
  }
}
