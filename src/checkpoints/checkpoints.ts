import { join } from 'node:path'
import * as TE from 'fp-ts/lib/TaskEither.js'
import { StoreUnusable } from '../events/errors/store-unusable.js'
import { Tagged } from '../events/errors/tagged.js'
import type { EventId } from '../events/event.js'
import type { CodeState } from '../events/file-record.js'
import type { Ports } from '../events/system.js'
import { adopt } from './adopt.js'
import { diffsOf, type FileDiff, type Pair } from './diff.js'
import { Journals } from './journal.js'
import { nodeWorkFs } from './node-work-fs.js'
import { type Collected, type CollectOptions, collect } from './objects/collect.js'
import { GitObjects } from './objects/git-objects.js'
import { withLock } from './objects/locks.js'
import { reachableFrom } from './objects/reachable.js'
import { whyNotWorkspace } from './place.js'
import type { Plan } from './plan-entry.js'
import { type Proof, type Proved, prove } from './prove.js'
import { type Recovered, type RestoreLog, recoverRestores } from './recover.js'
import { archiveRef, branchRef } from './refs.js'
import { type PreviewRequest, preview, type RestorePorts, type RestoreRequest, restore } from './restore.js'
import { defaultLimits, type ScanLimits } from './scan.js'
import { type Space, spaceOf } from './space.js'
import { StatCache } from './stat-cache.js'
import { cannotTake, type Taken, type TakeRequest, take } from './take.js'
import { takeIn } from './take-in.js'
import type { WorkFs } from './work-fs.js'

export interface CheckpointsOptions extends Ports {
  /** Where checkpoints are kept: the workspace's `file-history` in the store. */
  readonly folder: string
  /** The real absolute path of the workspace. */
  readonly workspace: string
  /** The user's home folder: it is not tracked as a whole. */
  readonly home: string
  /** Real absolute paths that are never tracked: the store's own. */
  readonly exclude: readonly string[]
  readonly limits?: ScanLimits
  readonly work?: WorkFs
}

/**
 * The code checkpoints of one workspace (docs/CHECKPOINTS.md): takes them, shows and applies restores, compares, frees. It knows no
 * log: what it gives is written as events by whoever calls, and the code states that it is given are folds of them.
 */
export class Checkpoints {
  readonly #ports: RestorePorts
  readonly #store: GitObjects
  readonly #cache: StatCache

  constructor(readonly options: CheckpointsOptions) {
    const { fs, random, clock, folder, workspace, exclude, work = nodeWorkFs } = options
    this.#store = new GitObjects(fs, random, join(folder, '.git'), folder)
    this.#cache = StatCache.load(fs, folder)
    this.#ports = {
      work,
      workspace,
      cache: this.#cache,
      store: this.#store,
      clock,
      random,
      limits: options.limits ?? defaultLimits,
      exclude: [...exclude, folder],
      journals: new Journals(fs, random, join(folder, 'journal')),
    }
  }

  /** Why the whole workspace is not tracked; null where it can be. */
  whyNotWorkspace(): string | null {
    return whyNotWorkspace(this.options.workspace, this.options.home)
  }

  /**
   * Records the present state of files: gives the `checkpoint` event to write, or null where nothing changed. What the disk
   * refuses is no error here, but an event that says why.
   */
  take(request: TakeRequest): TE.TaskEither<Tagged, Taken> {
    const why = request.scan === true ? this.whyNotWorkspace() : null
    const { scan: _scan, ...rest } = request
    return this.#try(async () => {
      const taken = await this.#locked('shared', () => this.#take(why === null ? request : rest))
      return why === null
        ? taken
        : { ...taken, refused: [...taken.refused, { path: this.options.workspace, why }] }
    })
  }

  /** Not in the middle of a restore, of this process or another: what it would see is neither old nor new. */
  async #take(request: TakeRequest): Promise<Taken> {
    if (this.isInterrupted) return cannotTake(request, 'a restore was cut off, and is not ended yet')
    return take(this.#ports, request)
  }

  /** What a restore would do. Changes nothing. */
  preview(request: PreviewRequest): TE.TaskEither<Tagged, Plan> {
    return this.#try(() => preview(this.#ports, request))
  }

  /** Puts the files of a node back, with its event. Left: RestoreConflict (nothing changed) or RestoreFailed. */
  restore(request: RestoreRequest): TE.TaskEither<Tagged, Plan> {
    return this.#try(() => this.#locked('exclusive', () => restore(this.#ports, request)))
  }

  /**
   * Whether a restore has not come to its end: a crash cut it off, or another process is at it. Then `recover`, which waits for
   * such a one, comes before anything else. Costs one look at a folder.
   */
  get isInterrupted(): boolean {
    return this.#ports.journals.isAny()
  }

  /** Tells the restores that a crash cut off that the workspace moved, files and all. */
  rebase(from: string, to: string): TE.TaskEither<Tagged, void> {
    return this.#try(() => this.#locked('exclusive', () => this.#ports.journals.rebase(from, to)))
  }

  /** Ends the restores that a crash cut off: finishes them, or puts everything back. */
  recover(log: RestoreLog): TE.TaskEither<Tagged, readonly Recovered[]> {
    return this.#try(() => this.#locked('exclusive', () => recoverRestores(this.#ports, log)))
  }

  /** Differences between records, as unified diffs. */
  diff(pairs: readonly Pair[]): TE.TaskEither<Tagged, readonly FileDiff[]> {
    return this.#try(() => diffsOf(this.#store, pairs))
  }

  /** What takes space, by session. */
  space(): TE.TaskEither<Tagged, Space> {
    return this.#try(() => spaceOf(this.#store))
  }

  /** Frees what no session leads to, and packs the rest. Others may write meanwhile. */
  collect(options: CollectOptions = {}): TE.TaskEither<Tagged, Collected> {
    return this.#try(() => collect(this.#store, options))
  }

  /**
   * Reads all that a session's checkpoints lead to, and holds it against its name; not the blobs that are in `proved`, which
   * learns what was read. Left: ObjectDamaged for a commit or a tree, beyond which nothing is known.
   */
  verify(session: EventId, proved: Proved): TE.TaskEither<Tagged, Proof> {
    return this.#try(async () => {
      const refs = [branchRef(session), archiveRef(session)]
      const tips = refs.flatMap((ref) => this.#store.ref(ref) ?? [])
      return { hasBranch: tips.length > 0, ...(await prove(this.#store, tips, proved)) }
    })
  }

  /**
   * Objects that a session's checkpoints (all sessions', where none is named) lead to and that are not there. Proves every
   * commit and tree, not the blobs' bytes. Left: ObjectDamaged.
   */
  missing(session?: EventId): TE.TaskEither<Tagged, readonly string[]> {
    const refs = session === undefined ? null : [branchRef(session), archiveRef(session)]
    return this.#try(async () => {
      const tips = [...this.#store.refs()].flatMap(([ref, tip]) =>
        refs === null || refs.includes(ref) ? [tip] : [],
      )
      return (await reachableFrom(this.#store, tips)).missing
    })
  }

  /** Whether the bytes are here: not those of a session that came without its code. */
  has(oid: string): boolean {
    return this.#store.has(oid)
  }

  /** Moves a session's branch out of sight; nothing of it is freed. */
  archive(session: EventId): TE.TaskEither<Tagged, void> {
    return this.#move(branchRef(session), archiveRef(session))
  }

  unarchive(session: EventId): TE.TaskEither<Tagged, void> {
    return this.#move(archiveRef(session), branchRef(session))
  }

  /** Drops a session's branch: `collect` then frees what no other one leads to. */
  purge(session: EventId): TE.TaskEither<Tagged, void> {
    const refs = [branchRef(session), archiveRef(session)]
    return this.#moveRefs(() => refs.map((ref) => [ref, null] as const))
  }

  /** Makes a fork's branch begin with the code state it stands on, so that this is kept as long as the fork is. */
  adopt(session: EventId, state: CodeState): TE.TaskEither<Tagged, void> {
    return this.#try(async () => {
      if (this.options.fs.stat(this.#store.folder) !== null) await adopt(this.#ports, session, state)
    })
  }

  /** Takes in what another workspace's folder holds, when its sessions move here. Bytes stay there too. */
  takeIn(other: Checkpoints, sessions: readonly EventId[]): TE.TaskEither<Tagged, void> {
    return this.#try(() => takeIn(this.#store, other.#store, sessions))
  }

  /** Keeps what it knows of unchanged files for the next process. */
  close(): void {
    if (this.options.fs.stat(this.options.folder) === null) return
    this.#cache.save(this.options.fs, this.options.random, this.options.folder)
  }

  /** Where a crash between two moves left both, neither is dropped: each may lead to what the other does not. */
  #move(from: string, to: string): TE.TaskEither<Tagged, void> {
    return this.#moveRefs(() => {
      const [tip, there] = [this.#store.ref(from), this.#store.ref(to)]
      return tip === null || (there !== null && there !== tip)
        ? []
        : [[to, tip] as const, [from, null] as const]
    })
  }

  /** A workspace that never had a checkpoint gets no folder for this. */
  #moveRefs(move: () => readonly (readonly [string, string | null])[]): TE.TaskEither<Tagged, void> {
    return this.#try(async () => {
      if (this.options.fs.stat(this.#store.folder) !== null)
        await this.#store.moveRefs(async () => new Map(move()))
    })
  }

  #locked<T>(kind: 'shared' | 'exclusive', run: () => Promise<T>): Promise<T> {
    return withLock(this.options.fs, join(this.options.folder, 'restore.lock'), kind, run)
  }

  #try<T>(run: () => Promise<T>): TE.TaskEither<Tagged, T> {
    return TE.tryCatch(run, (error) =>
      error instanceof Tagged
        ? error
        : new StoreUnusable(
            `the checkpoints cannot be used (${(error as Error).message})`,
            this.options.folder,
            'check the disk and the permissions, then try again',
            error,
          ),
    )
  }
}
