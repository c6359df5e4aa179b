import type { Draft } from '../events/draft.js'
import { Refused } from '../events/errors/index.js'
import type { Event, EventId } from '../events/event.js'
import type { Durability } from '../events/log.js'
import { type Divergence, sessionIndex } from '../projections/session-index.js'
import type { Compacted, CompactInput, Presence, Session, Undone } from './api.js'
import { checkedDrafts } from './checked-drafts.js'
import type { OpenSession } from './open-session.js'
import type { Reader } from './reader.js'

/** A session held open for writing, as programs use it. */
export class LiveSession implements Session {
  constructor(
    readonly open: OpenSession,
    readonly reader: Reader,
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

  async append(
    drafts: Draft | readonly Draft[],
    options: { readonly durability?: Durability } = {},
  ): Promise<readonly Event[]> {
    const list = checkedDrafts(Array.isArray(drafts) ? drafts : [drafts])
    return this.open.run({ do: 'append', drafts: list }, options.durability)
  }

  async undo(target: EventId): Promise<Undone> {
    const head = lastId(await this.open.run({ do: 'undo', target }))
    return { head: await this.reader.base(head), prompt: await this.reader.promptOf(target) }
  }

  async redo(): Promise<EventId> {
    return this.reader.base(lastId(await this.open.run({ do: 'redo' })))
  }

  async checkout(event: EventId): Promise<EventId> {
    await this.open.run({ do: 'checkout', to: event })
    return this.reader.base(event)
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

const lastId = (events: readonly Event[]): EventId => (events[events.length - 1] as Event).id
