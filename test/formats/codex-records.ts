import { recordOf } from '../../src/formats/codex/said.js'
import type { EventItem, Item } from '../../src/formats/format.js'
import type { Json } from '../../src/formats/remainder.js'
import { payloadOf } from './check-items.js'

/** The line that an event came from, from the event alone, as the writer has it. */
export const codexRecord = (item: EventItem, items: readonly Item[]): Json => {
  const [begun] = items
  const isBare = begun?.kind === 'session' && (begun.agent as Json).records === 'bare'
  const { key, type, at } = item
  return recordOf({ key, type, at, payload: payloadOf(item), extra: item.extra as Json | undefined }, isBare)
}
