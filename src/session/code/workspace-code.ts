import { join } from 'node:path'
import { Checkpoints, type CheckpointsOptions } from '../../checkpoints/checkpoints.js'
import { nodeWorkFs } from '../../checkpoints/node-work-fs.js'
import { cannotTake, type Taken, type TakeRequest } from '../../checkpoints/take.js'
import { Refused } from '../../events/errors/index.js'
import type { EventId } from '../../events/event.js'
import type { EventLog } from '../../events/log.js'
import { markCode } from './code-mark.js'
import { done } from './done.js'
import { restoreLog } from './restore-log.js'

export interface WorkspaceCodeOptions
  extends Pick<CheckpointsOptions, 'fs' | 'clock' | 'random' | 'limits' | 'work' | 'home'> {
  /** The store, which is never tracked. */
  readonly root: string
  readonly folder: string
  /** The workspace's real path; '' where nobody knows it. */
  readonly workspace: string
  /** The log of the workspace's sessions. */
  readonly log: EventLog
}

/** The checkpoints of one workspace, for all of its sessions that this process works on. */
export class WorkspaceCode {
  readonly checkpoints: Checkpoints
  readonly #log: EventLog
  readonly #marked = new Set<EventId>()

  constructor(readonly options: WorkspaceCodeOptions) {
    const { root, folder, work = nodeWorkFs, log, ...rest } = options
    this.#log = log
    const exclude = [...new Set([root, work.realPath(root) ?? root])]
    this.checkpoints = new Checkpoints({ ...rest, work, exclude, folder: join(folder, 'file-history') })
  }

  /** Why no file of the workspace can be looked at; null where it can. */
  whyNoFiles(): string | null {
    const { workspace, work = nodeWorkFs } = this.options
    if (workspace === '') return 'the path of the workspace is not known'
    return work.lstat(workspace)?.kind === 'folder' ? null : `the workspace ${workspace} is not there`
  }

  /** A checkpoint; what stands in its way is in what it gives. */
  async take(request: TakeRequest): Promise<Taken> {
    const why = this.whyNoFiles()
    if (why !== null) return cannotTake(request, why)
    try {
      await this.settle()
      const taken = await done(this.checkpoints.take(request))
      if (taken.checkpoint !== null && 'commit' in taken.checkpoint) this.#mark(request.session)
      return taken
    } catch (error) {
      return cannotTake(request, (error as Error).message)
    }
  }

  /** Once a session: whoever verifies it then knows that its code was here. */
  #mark(session: EventId): void {
    if (this.#marked.has(session)) return
    this.#marked.add(session)
    markCode(this.options.fs, this.options.folder, session)
  }

  /** Rejects where there are no files to restore: a workspace that moved must not come into being again. */
  mustHaveFiles(): void {
    const why = this.whyNoFiles()
    if (why !== null)
      throw new Refused(
        `no code can be restored: ${why}`,
        '',
        'where it moved, run `coppice relocate OLD NEW`; or move the conversation alone',
      )
  }

  /** Ends the restores that a crash cut off; gives the events of those that were finished. */
  async settle(): Promise<readonly string[]> {
    if (!this.checkpoints.isInterrupted) return []
    const ended = await done(this.checkpoints.recover(restoreLog(this.#log)))
    return ended.flatMap(({ how, event }) => (how === 'finished' ? [event] : []))
  }

  /** Keeps what it knows of unchanged files for the next process: a cache, so what fails is no matter. */
  close(): void {
    try {
      this.checkpoints.close()
    } catch {
      // Those files are read again.
    }
  }
}
