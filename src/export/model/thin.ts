import { isBlobRef } from '../../events/content.js'
import type { Event } from '../../events/event.js'
import { recordOf, stringOf } from '../../projections/members.js'

/** Longer strings are left out. */
const most = 120
/** What no fold of a report looks at, and may be large. */
const dropped: ReadonlySet<string> = new Set([
  'replay',
  'meta',
  'row',
  'data',
  'tools',
  'instructions',
  'params',
])
/** Short by the format's own rules. */
const whole: ReadonlySet<string> = new Set(['id', 'parent', 'title', 'name', 'label', 'path', 'toolCallId'])

/**
 * An event without its weight: each long text is a reference, as if it stood in a blob, so that every projection still
 * takes it, counts it and names it, and a whole log of them fits into memory. Its references lead nowhere: whoever shows a
 * text reads the event again.
 */
export const thin = (event: Event): Event => thinRecord(event) as unknown as Event

const thinRecord = (record: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> => {
  const members: Record<string, unknown> = {}
  for (const [key, value] of Object.entries(record)) {
    if (dropped.has(key)) continue
    members[key] = key === 'origin' ? thinOrigin(value) : whole.has(key) ? value : thinValue(value)
  }
  return members
}

const thinValue = (value: unknown): unknown => {
  if (typeof value === 'string') return value.length > most ? referenceTo(value) : value
  if (typeof value !== 'object' || value === null || isBlobRef(value)) return value
  return Array.isArray(value) ? value.map(thinValue) : thinRecord(value as Readonly<Record<string, unknown>>)
}

const referenceTo = (text: string) => ({ $blob: '', bytes: Buffer.byteLength(text), as: 'text' as const })

const thinOrigin = (value: unknown): unknown => {
  const origin = recordOf(value)
  return { format: stringOf(origin?.format), id: stringOf(origin?.id) }
}
