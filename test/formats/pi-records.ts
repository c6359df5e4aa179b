import type { EventItem } from '../../src/formats/format.js'
import { saidEnvelope } from '../../src/formats/pi/entry.js'
import { recordOf } from '../../src/formats/pi/record.js'
import type { Json } from '../../src/formats/remainder.js'
import { payloadOf } from './check-items.js'

/** The entry that an event came from, from the event alone, as the writer has it. `idOf` as `payloadOf` has it. */
export const piRecord = (item: EventItem, keyOf: (id: unknown) => string): Json => {
  const { type, at, key, parent } = item
  const from = {
    type,
    at,
    payload: payloadOf(item),
    extra: item.extra as Json | undefined,
    isRepeated: key.includes('#'),
  }
  return recordOf(from, saidEnvelope(key, parent, at), keyOf)
}
