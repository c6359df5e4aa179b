import { toArray } from '../events/chain.js'
import type { Content } from '../events/content.js'
import type { EventId } from '../events/event.js'
import { contentOf } from './groups.js'
import { listOf, membersOf, numberOf, recordOf, stringOf } from './members.js'
import { type PathEvents, pathProjection } from './path-events.js'
import type { Projection } from './projection.js'
import { readUsage, type Tokens } from './usage-tally.js'

/** A compaction on the path. Token counts are null where it does not say. */
export interface CompactionRow {
  readonly id: EventId
  readonly at: string
  readonly summary: Content | null
  /** The last event covered. */
  readonly through: EventId | null
  /** Messages on the path that it covers. */
  readonly covers: number
  /** Messages that stay in the context all the same. */
  readonly kept: readonly EventId[]
  readonly trigger: string | null
  readonly model: string | null
  readonly tokensBefore: number | null
  readonly tokensAfter: number | null
  readonly usage: Tokens | null
  /** Whether it is the one that the context begins with. */
  readonly current: boolean
}

const view = (path: PathEvents): readonly CompactionRow[] => {
  const events = toArray(path)
  const messagesAt = new Map<EventId, number>()
  let count = 0
  for (const { id, type } of events) messagesAt.set(id, type === 'message' ? ++count : count)
  const newest = events.findLast(({ type }) => type === 'compaction')
  return events.flatMap((event) => {
    if (event.type !== 'compaction') return []
    const members = membersOf(event)
    const through = stringOf(members.through)
    return {
      id: event.id,
      at: event.at,
      summary: contentOf(members.summary),
      through,
      covers: through === null ? 0 : (messagesAt.get(through) ?? 0),
      kept: listOf(members.keep).flatMap((item) => stringOf(recordOf(item)?.id) ?? []),
      trigger: stringOf(members.trigger),
      model: stringOf(members.model),
      tokensBefore: numberOf(members.tokensBefore),
      tokensAfter: numberOf(members.tokensAfter),
      usage: readUsage(members.usage),
      current: event === newest,
    }
  })
}

/** The compactions on a path, first to last. */
export const compactions: Projection<PathEvents, readonly CompactionRow[]> = pathProjection(
  'compactions',
  1,
  view,
)
