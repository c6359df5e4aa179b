import { join } from 'node:path'
import type { EventId } from '../events/event.js'
import type { Fs, Random } from '../events/ports.js'
import { writeAll } from './objects/loose.js'
import type { Steps } from './steps.js'

/**
 * How far a restore is. `staging`: nothing of the user's was touched. `applying`: some files are in place, some aside: to be
 * rolled back. `applied`: every file is in place, to be finished. `rolling-back`: to be rolled back.
 */
export type Phase = 'staging' | 'applying' | 'applied' | 'rolling-back'

/** What a crash in the middle of a restore leaves behind for the next open (docs/CHECKPOINTS.md). */
export interface Journal extends Steps {
  readonly format: 1
  readonly id: string
  readonly session: EventId
  /** The event that records the restore, and its exact line (without its newline). */
  readonly event: EventId
  readonly line: string
  readonly phase: Phase
}

/** The journals of a workspace, one file a restore that is not done. */
export class Journals {
  constructor(
    readonly fs: Fs,
    readonly random: Random,
    readonly folder: string,
  ) {}

  /** Writes it, durably, in place of its last state. */
  async write(journal: Journal): Promise<void> {
    this.fs.makeDir(this.folder)
    const temporary = join(this.folder, `${journal.id}.${this.random.hex(4)}`)
    const file = this.fs.open(temporary, 'new')
    try {
      writeAll(file, Buffer.from(JSON.stringify(journal)))
      await file.sync()
    } catch (error) {
      file.close()
      this.fs.remove(temporary)
      throw error
    }
    file.close()
    this.fs.rename(temporary, this.#path(journal.id))
    await this.fs.syncDir(this.folder)
  }

  /** Durably gone: only once nothing is left to do. */
  async remove(id: string): Promise<void> {
    this.fs.remove(this.#path(id))
    await this.fs.syncDir(this.folder)
  }

  /** Whether there is any: of a restore that was cut off, or of one that another process is at just now. */
  isAny(): boolean {
    // Most workspaces never had one: to look for the folder is cheaper than to fail in listing it.
    return this.fs.stat(this.folder) !== null && this.#names().length > 0
  }

  /** Those of restores that did not come to their end. Whoever reads them holds the restore lock. */
  pending(): readonly Journal[] {
    return this.#names().map(
      (name) => JSON.parse(Buffer.from(this.fs.readFile(join(this.folder, name))).toString()) as Journal,
    )
  }

  /** After a workspace moved: every path below `from` is one below `to`. */
  async rebase(from: string, to: string): Promise<void> {
    const moved = <T>(value: T): T =>
      (typeof value === 'string' && value.startsWith(join(from, '/'))
        ? join(to, value.slice(from.length))
        : value) as T
    for (const journal of this.pending())
      await this.write({
        ...journal,
        steps: journal.steps.map(({ path, aside, fresh, out, ...rest }) => ({
          ...rest,
          path: moved(path),
          aside: moved(aside),
          fresh: moved(fresh),
          out: moved(out),
        })),
        removeFolders: journal.removeFolders.map(({ path, mode }) => ({ path: moved(path), mode })),
        makeFolders: journal.makeFolders.map(moved),
        emptied: journal.emptied.map(moved),
      })
  }

  /** Removes what a crash left half-written: none of it was ever a journal. */
  tidy(): void {
    for (const name of this.fs.readDir(this.folder))
      if (!name.endsWith('.json')) this.fs.remove(join(this.folder, name))
  }

  #names(): readonly string[] {
    return this.fs.readDir(this.folder).filter((name) => name.endsWith('.json'))
  }

  #path(id: string): string {
    return join(this.folder, `${id}.json`)
  }
}
