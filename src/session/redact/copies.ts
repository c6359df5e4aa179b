import { blobRefs } from '../../events/blob.js'
import type { Event, EventId } from '../../events/event.js'
import { listOf, type Members, membersOf, recordOf, stringOf } from '../../projections/members.js'

/** What of an event tells whether it holds a copy of another. */
export interface Traces {
  readonly id: EventId
  readonly isRoot: boolean
  /** Made of what other events said: that it holds their words says nothing of those events. */
  readonly isMade: boolean
  /** Of a message. */
  readonly group: string | null
  /** Of an edit that says something. */
  readonly target: EventId | null
  /** Events, and groups of events, whose words stand in it: in a `head` event's row, in what a compaction keeps. */
  readonly quotes: readonly string[]
  readonly quotedGroups: readonly string[]
  /** Names of blobs. */
  readonly blobs: readonly string[]
}

/** `inBlobs`: what the event's blobs of JSON name in turn. */
export const tracesOf = (event: Event, inBlobs: readonly string[] = []): Traces => {
  const members = membersOf(event)
  const isEdit = event.type === 'edit' && members.replacement !== null
  return {
    id: event.id,
    isRoot: event.parent === null,
    isMade: event.type === 'head' || event.type === 'compaction',
    group: event.type === 'message' ? stringOf(members.group) : null,
    target: isEdit ? stringOf(members.target) : null,
    ...quoted(event, members),
    blobs: [...blobRefs(event).map(({ $blob }) => $blob), ...inBlobs],
  }
}

const quoted = (event: Event, members: Members): Pick<Traces, 'quotes' | 'quotedGroups'> => {
  if (event.redacted === true) return { quotes: [], quotedGroups: [] }
  if (event.type === 'head') {
    const row = recordOf(members.row) ?? {}
    return {
      quotes: strings(row.event, row.textEvent, row.toolEvent),
      quotedGroups: strings(row.group, row.textGroup),
    }
  }
  if (event.type !== 'compaction') return { quotes: [], quotedGroups: [] }
  const kept = listOf(members.keep).map(recordOf)
  return {
    quotes: strings(...kept.map((item) => item?.id)),
    quotedGroups: strings(...kept.map((item) => recordOf(item?.message)?.group)),
  }
}

const strings = (...values: readonly unknown[]): readonly string[] =>
  values.flatMap((value) => (typeof value === 'string' ? [value] : []))

/**
 * The events to redact with those that were named: whatever holds what they said. A `head` event whose row, a compaction
 * whose kept messages, an edit that says one of them anew, and what names the same blob. Copies of copies too. A root
 * is never among them.
 */
export const withCopies = (traces: readonly Traces[], named: ReadonlySet<EventId>): ReadonlySet<EventId> => {
  const found = new Set<EventId>(named)
  for (let before = -1; before !== found.size; ) {
    before = found.size
    const gone = traces.filter(({ id }) => found.has(id))
    const groups = new Set(gone.flatMap(({ group }) => group ?? []))
    const blobs = new Set(gone.flatMap((one) => (one.isMade ? [] : one.blobs)))
    // What an edit said is kept under the id of the message that it edits.
    const quotable = new Set([...found, ...gone.flatMap(({ target }) => target ?? [])])
    for (const one of traces) {
      const isCopy =
        (one.target !== null && found.has(one.target)) ||
        one.quotes.some((id) => quotable.has(id)) ||
        one.quotedGroups.some((group) => groups.has(group)) ||
        one.blobs.some((name) => blobs.has(name))
      if (isCopy && !one.isRoot) found.add(one.id)
    }
  }
  return found
}
