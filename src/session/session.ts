import type { CheckpointReason, Taken } from '../checkpoints/take.js'
import type { Draft } from '../events/draft.js'
import { Refused } from '../events/errors/index.js'
import type { Event, EventId } from '../events/event.js'
import { type Divergence, sessionIndex } from '../projections/session-index.js'
import type {
  AppendOptions,
  CheckpointTaken,
  Compacted,
  CompactInput,
  MoveOptions,
  MovePlan,
  MoveResult,
  Presence,
  Session,
  Undone,
} from './api.js'
import { checkedDrafts } from './checked-drafts.js'
import type { Move } from './code/moving.js'
import type { WorkspaceCode } from './code/workspace-code.js'
import type { CheckpointCommand } from './command.js'
import type { Hold, OpenSession } from './open-session.js'
import type { Reader } from './reader.js'

/** A session held open for writing, as programs use it. */
export class LiveSession implements Session {
  constructor(
    readonly open: OpenSession,
    readonly reader: Reader,
    /** The code of its workspace, loaded when it is first asked for. */
    readonly code: () => Promise<WorkspaceCode>,
  ) {}

  get id(): EventId {
    return this.open.id
  }
  get workspace(): string {
    return this.reader.workspace
  }
  get position(): EventId {
    return this.open.state.position
  }
  get head(): EventId {
    return this.open.state.index.head ?? this.id
  }
  get diverged(): readonly Divergence[] {
    return sessionIndex.view(this.open.state.index).diverged
  }
  get others(): readonly Presence[] {
    return this.open.others
  }

  async append(drafts: Draft | readonly Draft[], options: AppendOptions = {}): Promise<readonly Event[]> {
    const list = checkedDrafts(Array.isArray(drafts) ? drafts : [drafts])
    const { durability, notice = true } = options
    return this.open.run({ do: 'append', drafts: list, notice }, durability)
  }

  async undo(target: EventId, options: MoveOptions = {}): Promise<Undone> {
    return this.open.alone(async (hold) => {
      // Read before anything moves: what it was is no reason to reject what is done.
      const prompt = await this.reader.promptOf(target).catch(() => null)
      const moved = await this.#moveWith(hold, { do: 'undo', target }, options)
      return { ...moved, prompt: prompt ?? (await this.reader.promptOf(target)) }
    })
  }

  redo(options: Omit<MoveOptions, 'what'> = {}): Promise<MoveResult> {
    return this.#move({ do: 'redo' }, options)
  }

  checkout(event: EventId, options: MoveOptions = {}): Promise<MoveResult> {
    return this.#move({ do: 'checkout', to: event }, options)
  }

  planUndo(target: EventId, options: MoveOptions = {}): Promise<MovePlan> {
    return this.#plan({ do: 'undo', target }, options)
  }

  planRedo(options: Omit<MoveOptions, 'what'> = {}): Promise<MovePlan> {
    return this.#plan({ do: 'redo' }, options)
  }

  planCheckout(event: EventId, options: MoveOptions = {}): Promise<MovePlan> {
    return this.#plan({ do: 'checkout', to: event }, options)
  }

  #move(command: Move, options: MoveOptions): Promise<MoveResult> {
    return this.open.alone((hold) => this.#moveWith(hold, command, options))
  }

  async #moveWith(hold: Hold, command: Move, options: MoveOptions): Promise<MoveResult> {
    const { move } = await import('./code/moving.js')
    const { head, entries } = await move(hold, this.code, command, options)
    return { head, files: entries }
  }

  #plan(command: Move, options: MoveOptions): Promise<MovePlan> {
    return this.open.alone(async (hold) => {
      const { planMove } = await import('./code/moving.js')
      return planMove(hold, this.code, command, options)
    })
  }

  beforeEdit(paths: readonly string[], { toolCallId }: ForTool = {}): Promise<CheckpointTaken> {
    return this.#take({ reason: 'before-tool', paths, ...(toolCallId === undefined ? {} : { toolCallId }) })
  }

  afterEdit(paths: readonly string[], { toolCallId }: ForTool = {}): Promise<CheckpointTaken> {
    return this.#take({ reason: 'after-tool', paths, ...(toolCallId === undefined ? {} : { toolCallId }) })
  }

  checkpoint(
    paths?: readonly string[],
    { reason = 'manual' }: { readonly reason?: CheckpointReason } = {},
  ): Promise<CheckpointTaken> {
    return this.#take({ reason, ...(paths === undefined ? {} : { paths }) })
  }

  async #take(command: CheckpointCommand): Promise<CheckpointTaken> {
    let taken: Taken | null = null
    const events = await this.open.run({
      do: 'checkpoint',
      ...command,
      told: (last) => {
        taken = last
      },
    })
    return takenOf(taken, events.findLast(({ type }) => type === 'checkpoint')?.id ?? null)
  }

  async branch(name: string, at?: EventId): Promise<EventId> {
    checkedDrafts([{ type: 'branch', name }])
    return lastId(await this.open.run({ do: 'branch', name, ...(at === undefined ? {} : { at }) }))
  }

  async label(event: EventId, label: string | null): Promise<void> {
    checkedDrafts([{ type: 'label', target: event, label }])
    await this.open.run({ do: 'label', target: event, label })
  }

  /** False where the title stays: auto replaces neither the user's nor an import's. */
  async title(title: string, by: 'user' | 'auto' | 'import' = 'user'): Promise<boolean> {
    checkedDrafts([{ type: 'title', title, by }])
    try {
      await this.open.run({ do: 'title', title, by })
      return true
    } catch (error) {
      if (error instanceof Refused && by !== 'user') return false
      throw error
    }
  }

  async compact(input: CompactInput): Promise<Compacted> {
    checkedDrafts([{ type: 'compaction', through: this.id, ...input }])
    const compaction = { ...input, trigger: input.trigger ?? 'manual' }
    checkedDrafts([{ ...compaction, type: 'compaction', through: input.through ?? this.id }])
    const events = await this.open.run({ do: 'compact', compaction })
    const { id, through, tokensBefore, tokensAfter } = events[events.length - 1] as Event & Compacted
    return { id, through, tokensBefore, tokensAfter }
  }

  async edit(target: EventId, replacement: unknown): Promise<EventId> {
    checkedDrafts([{ type: 'edit', target, replacement }])
    return lastId(await this.open.run({ do: 'edit', target, replacement }))
  }

  refresh(): Promise<void> {
    return this.open.refresh()
  }

  close(): void {
    this.open.close()
  }
}

type ForTool = { readonly toolCallId?: string }

const takenOf = (taken: Taken | null, id: EventId | null): CheckpointTaken => {
  const { checkpoint = null, refused = [], unread = [] } = taken ?? {}
  const hasFailed = checkpoint !== null && 'failed' in checkpoint
  const files = checkpoint === null || hasFailed ? [] : checkpoint.files
  const commit = checkpoint === null || hasFailed ? null : checkpoint.commit
  return { id, commit, files, failed: hasFailed ? checkpoint.failed : null, refused, unread }
}

const lastId = (events: readonly Event[]): EventId => (events[events.length - 1] as Event).id
