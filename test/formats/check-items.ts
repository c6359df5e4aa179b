import * as E from 'fp-ts/lib/Either.js'
import { decodeDraft } from '../../src/events/draft.js'
import { noteTypes } from '../../src/events/event.js'
import { sha256 } from '../../src/events/id.js'
import type { EventItem, Format, Item } from '../../src/formats/format.js'

export const itemsOf = async (format: Format, source: string): Promise<Item[]> => {
  const items: Item[] = []
  for await (const item of format.read(source)) items.push(item)
  return items
}

export const eventsOf = (items: readonly Item[]): EventItem[] =>
  items.filter((item): item is EventItem => item.kind === 'event')

/** An id for a key, as an importer would know it. */
export const idFor = (key: string): string => sha256(key).slice(0, 32)

export const payloadOf = (item: EventItem): Record<string, unknown> => item.payload(idFor)

/** What any importer relies on: keys once, links and moves to what was given before, drafts that format 1 takes. */
export const problemsOf = (items: readonly Item[]): string[] => {
  const problems: string[] = []
  const sessions = new Map<string, Set<string>>()
  const notes = new Set<string>()
  for (const item of items) {
    if (item.kind === 'session') {
      if (sessions.has(item.session)) problems.push(`session ${item.session} begins twice`)
      sessions.set(item.session, new Set())
    }
    if (item.kind !== 'event' && item.kind !== 'move') continue
    const keys = sessions.get(item.session)
    if (keys === undefined) {
      problems.push(`${item.key} comes before its session`)
      continue
    }
    if (item.kind === 'move') {
      if (!keys.has(item.to)) problems.push(`move to unknown ${item.to}`)
      continue
    }
    const seen = (key: string): string | null =>
      keys.has(key) && !notes.has(`${item.session} ${key}`) ? idFor(key) : null
    if (item.parent !== null && seen(item.parent) === null)
      problems.push(`${item.key}: parent ${item.parent} is unknown or a note`)
    if (keys.has(item.key)) problems.push(`${item.key} stands twice`)
    const draft = decodeDraft({ type: item.type, at: item.at, ...item.payload(seen) })
    if (E.isLeft(draft)) problems.push(`${item.key} (${item.type}, line ${item.line}): ${draft.left.message}`)
    keys.add(item.key)
    if (noteTypes.has(item.type)) notes.add(`${item.session} ${item.key}`)
  }
  return problems
}

/** The source lines that items account for. */
export const linesOf = (items: readonly Item[]): Set<number> =>
  new Set(
    items.flatMap((item) =>
      item.kind === 'remark'
        ? (item.lines ?? [])
        : item.line === null || item.line === undefined
          ? []
          : [item.line],
    ),
  )

/** An item as data, so that two readings compare. */
export const plain = (item: Item): unknown =>
  item.kind === 'event' ? { ...item, payload: payloadOf(item) } : item
