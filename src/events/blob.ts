import * as E from 'fp-ts/lib/Either.js'
import { type BlobRef, isBlobRef } from './content.js'
import { InvalidDraft } from './errors/invalid-draft.js'
import { sha256 } from './id.js'
import { payloadText } from './line.js'

/** A string longer than this, in UTF-8 bytes, stands in a blob. */
export const maxInlineText = 64 * 1024
/** While a line would exceed this, its largest values move out. */
export const maxLine = 1024 * 1024
/** How deep a payload may be nested: whatever reads it, call within call, has room for that. */
const maxDepth = 500
/** What a payload may take of a line: the rest is for the envelope. */
const maxPayload = maxLine - 1024
/** No member shorter than this is moved out for the sake of the line. */
const minMoved = 256

/** A payload as it goes into a line, and the blobs that it names, by their SHA-256. */
export interface Stored {
  readonly payload: object
  /** The payload's text, as `payloadText` makes it. */
  readonly text: string
  readonly blobs: ReadonlyMap<string, Buffer>
}

/** A member that holds values as they stand in lines already (what a fold gave): nothing in it is escaped again. */
export class InStoredForm {
  constructor(readonly value: unknown) {}
}

/**
 * Turns a caller's payload into what a line holds: large strings and inline media become blob references, keys that
 * begin with `$` get one more. Refuses what no line can hold.
 */
export const storeValues = (payload: object): E.Either<InvalidDraft, Stored> => {
  const members = Object.entries(payload)
  const asTheyAre = members.filter(([, value]) => value instanceof InStoredForm)
  const own =
    asTheyAre.length === 0
      ? payload
      : Object.fromEntries(members.filter(([, value]) => !(value instanceof InStoredForm)))
  const text = jsonOf(own)
  if (text === undefined)
    return E.left(
      new InvalidDraft([
        `the payload should be JSON (no cycles, no BigInt, nested no deeper than ${maxDepth} levels)`,
      ]),
    )
  if (text.length > maxDepth && isDeep(own, maxDepth))
    return E.left(new InvalidDraft([`the payload should be nested no deeper than ${maxDepth} levels`]))
  if (asTheyAre.length === 0 && isPlain(text)) return E.right({ payload, text, blobs: new Map() })
  const blobs = new Map<string, Buffer>()
  const added = asTheyAre.map(([name, { value }]) => [name, value])
  const whole = {
    ...(store(JSON.parse(`{${text}}`), blobs) as object),
    // A copy: what stands in a fold is not to be changed.
    ...(JSON.parse(JSON.stringify(Object.fromEntries(added))) as object),
  }
  return fitted(whole, blobs)
}

/** Makes the payload fit a line, or says that it cannot. */
const fitted = (
  payload: Record<string, unknown>,
  blobs: Map<string, Buffer>,
): E.Either<InvalidDraft, Stored> => {
  shrink(payload, blobs)
  const text = payloadText(payload)
  const bytes = Buffer.byteLength(text)
  return bytes > maxPayload
    ? E.left(new InvalidDraft([`the payload should fit a line of ${maxPayload} bytes, it takes ${bytes}`]))
    : E.right({ payload, text, blobs })
}

/** A value that stands in a blob whatever its size: the reference, and the blob by its name. */
export const movedOut = (
  value: unknown,
): { readonly ref: BlobRef; readonly blobs: ReadonlyMap<string, Buffer> } => {
  const blobs = new Map<string, Buffer>()
  const ref =
    typeof value === 'string'
      ? moveText(value, blobs)
      : put(Buffer.from(JSON.stringify(store(value, blobs))), { as: 'json' }, blobs)
  return { ref, blobs }
}

const jsonOf = (payload: object): string | undefined => {
  try {
    return payloadText(payload)
  } catch {
    return undefined
  }
}

const isDeep = (value: unknown, levels: number): boolean =>
  typeof value === 'object' &&
  value !== null &&
  (levels === 0 || Object.values(value).some((item) => isDeep(item, levels - 1)))

/** A cheap look that lets most payloads through as they are: nothing in them can be large, media, or a `$` key. */
const isPlain = (text: string): boolean =>
  text.length * 3 <= maxInlineText && !text.includes('"$') && !text.includes('"data"')

const store = (value: unknown, blobs: Map<string, Buffer>): unknown => {
  if (typeof value === 'string') return isLong(value) ? moveText(value, blobs) : value
  if (Array.isArray(value)) return value.map((item) => store(item, blobs))
  if (typeof value !== 'object' || value === null) return value
  const isMedia = isInlineMedia(value)
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [
      escapeKey(key),
      isMedia && key === 'data'
        ? moveData(item as string, (value as { media?: string }).media, blobs)
        : store(item, blobs),
    ]),
  )
}

const isLong = (text: string): boolean =>
  text.length * 3 > maxInlineText && Buffer.byteLength(text) > maxInlineText

const mediaTypes = new Set(['image', 'audio', 'document'])
const isInlineMedia = (value: object): boolean => {
  const part = value as { type?: unknown; data?: unknown }
  return mediaTypes.has(part.type as string) && typeof part.data === 'string'
}

const escapeKey = (key: string): string => (key.startsWith('$') ? `$${key}` : key)

const put = (bytes: Buffer, ref: Omit<BlobRef, '$blob' | 'bytes'>, blobs: Map<string, Buffer>): BlobRef => {
  const name = sha256(bytes)
  blobs.set(name, bytes)
  return { $blob: name, bytes: bytes.length, ...ref }
}

const moveText = (text: string, blobs: Map<string, Buffer>): BlobRef => {
  const bytes = Buffer.from(text)
  // A lone surrogate does not survive UTF-8; as JSON text it does.
  return bytes.toString() === text
    ? put(bytes, { as: 'text' }, blobs)
    : put(Buffer.from(JSON.stringify(text)), { as: 'json' }, blobs)
}

const moveData = (data: string, media: string | undefined, blobs: Map<string, Buffer>): BlobRef => {
  const bytes = Buffer.from(data, 'base64')
  const kind = typeof media === 'string' ? { media } : {}
  // Only where encoding again gives the same string is it stored as bytes.
  if (bytes.toString('base64') === data) return put(bytes, { ...kind, as: 'base64' }, blobs)
  return { ...moveText(data, blobs), ...kind }
}

/** Members that folds read without resolving blobs: they never move out whole. */
const structural = new Set([
  'id',
  'name',
  'type',
  'role',
  'toolCallId',
  'toolCalls',
  'group',
  'through',
  'target',
  'to',
  'from',
  'reason',
  'row',
  'keep',
  'origin',
  'ids',
  'gaps',
  'orphans',
])

interface Place {
  readonly holder: Record<string | number, unknown>
  readonly key: string | number
  readonly bytes: number
}

/** Moves the largest values out, strings first, until the payload fits. */
const shrink = (payload: Record<string, unknown>, blobs: Map<string, Buffer>): void => {
  let excess = Buffer.byteLength(payloadText(payload)) - maxPayload
  if (excess <= 0) return
  const strings: Place[] = []
  collect(payload, strings)
  const places = strings.sort((a, b) => b.bytes - a.bytes)
  for (const place of places) {
    if (excess <= 0) return
    place.holder[place.key] = moveText(place.holder[place.key] as string, blobs)
    excess -= place.bytes - 140
  }
  const sized = movable(payload).sort((a, b) => b.bytes - a.bytes)
  for (const { holder, key, bytes } of sized) {
    if (excess <= 0 || bytes < minMoved) return
    holder[key] = put(Buffer.from(JSON.stringify(holder[key])), { as: 'json' }, blobs)
    excess -= bytes - 140
  }
}

/** Values that may stand in a blob whole: members that no fold looks into, and what an origin keeps beside them. */
const movable = (payload: Record<string, unknown>): Place[] => {
  const placeOf = (holder: Record<string, unknown>, key: string): Place => ({
    holder,
    key,
    bytes: JSON.stringify(holder[key]).length,
  })
  const members = Object.keys(payload).filter((key) => !structural.has(key))
  const origin = payload.origin as Record<string, unknown> | null | undefined
  const isKept = typeof origin === 'object' && origin !== null && Object.hasOwn(origin, 'extra')
  return [...members.map((key) => placeOf(payload, key)), ...(isKept ? [placeOf(origin, 'extra')] : [])]
}

const collect = (value: unknown, places: Place[]): void => {
  if (typeof value !== 'object' || value === null || isBlobRef(value)) return
  const holder = value as Record<string | number, unknown>
  for (const [key, item] of Object.entries(holder)) {
    if (typeof item !== 'string') collect(item, places)
    else if (item.length >= minMoved && !structural.has(key))
      places.push({ holder, key, bytes: Buffer.byteLength(JSON.stringify(item)) })
  }
}

/** Every blob that a stored value names itself; a `json` blob may name more. */
export const blobRefs = (value: unknown): readonly BlobRef[] => {
  if (typeof value !== 'object' || value === null) return []
  if (isBlobRef(value)) return [value]
  return Object.values(value).flatMap(blobRefs)
}

/** What stands in the place of a value whose blob is missing or damaged, where someone reads past that. */
export class InPlaceOfBlob {
  constructor(readonly words: string) {}
}

/**
 * The caller's form of a stored value: blobs filled in by `load`, keys restored. A blob of `json` may itself name blobs
 * (its large strings had moved out before it did). `load` may give words in the place of one that it cannot give.
 */
export const resolveValues = async <T>(
  value: T,
  load: (ref: BlobRef) => Promise<Buffer | InPlaceOfBlob>,
): Promise<T> => {
  const resolve = async (item: unknown): Promise<unknown> => {
    if (typeof item !== 'object' || item === null) return item
    if (isBlobRef(item)) return readBlob(item, await load(item), resolve)
    if (Array.isArray(item)) return Promise.all(item.map((one) => (needsResolving(one) ? resolve(one) : one)))
    const entries = Object.entries(item).map(
      async ([key, member]) => [key.startsWith('$$') ? key.slice(1) : key, await resolve(member)] as const,
    )
    return Object.fromEntries(await Promise.all(entries))
  }
  return (needsResolving(value) ? resolve(value) : Promise.resolve(value)) as Promise<T>
}

const readBlob = (
  ref: BlobRef,
  bytes: Buffer | InPlaceOfBlob,
  resolve: (item: unknown) => Promise<unknown>,
): unknown => {
  if (bytes instanceof InPlaceOfBlob) return bytes.words
  if (ref.as === 'base64') return bytes.toString('base64')
  return ref.as === 'text' ? bytes.toString() : resolve(JSON.parse(bytes.toString()))
}

const needsResolving = (value: unknown): boolean =>
  typeof value === 'object' &&
  value !== null &&
  (Array.isArray(value)
    ? value.some(needsResolving)
    : Object.keys(value).some((key) => key.startsWith('$') || needsResolving((value as Members)[key])))
type Members = Readonly<Record<string, unknown>>
