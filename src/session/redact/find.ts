import { resolveValues } from '../../events/blob.js'
import type { BlobRef } from '../../events/content.js'
import type { Event, EventId } from '../../events/event.js'
import { eventsOf } from '../../events/event-of.js'
import { detectInTexts } from '../../secrets/detect.js'
import { textsOf } from '../../secrets/values.js'
import type { Home } from '../store/home.js'
import type { Place } from '../store/places.js'
import type { Found } from './redacted.js'

/** How much text is looked through together (characters). */
const together = 1024 * 1024

/** Every event of a session that seems to hold a secret, its blobs of text included, in log order. */
export const findSecrets = async (home: Home, place: Place, id: EventId): Promise<readonly Found[]> => {
  const log = home.log(place.folder)
  const load = async (ref: BlobRef): Promise<Buffer> =>
    ref.as === 'base64' ? Buffer.alloc(0) : log.blobs.get(id, ref).catch(() => Buffer.from('null'))
  const found: Found[] = []
  let waiting: Texts[] = []
  let size = 0
  for await (const batch of log.readForward(id)) {
    for (const event of eventsOf(batch, id)) {
      if (event.redacted === true) continue
      const texts = [...textsOf(await resolveValues(saysOf(event), load))]
      waiting.push({ event, texts })
      for (const { length } of texts) size += length
      if (size < together) continue
      found.push(...(await look(waiting)))
      waiting = []
      size = 0
    }
  }
  return [...found, ...(await look(waiting))]
}

interface Texts {
  readonly event: Event
  readonly texts: readonly string[]
}

const saysOf = ({ id: _id, parent: _parent, at: _at, type: _type, ...says }: Event): object => says

const look = async (waiting: readonly Texts[]): Promise<readonly Found[]> => {
  const secrets = await detectInTexts(waiting.flatMap(({ texts }) => texts))
  let at = 0
  return waiting.flatMap(({ event, texts }) => {
    const kinds = secrets.slice(at, at + texts.length).flatMap((one) => one.map(({ kind }) => kind))
    at += texts.length
    return kinds.length === 0 ? [] : [{ event: event.id, type: event.type, kinds }]
  })
}
