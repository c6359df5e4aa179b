import * as E from 'fp-ts/lib/Either.js'
import { type Stored, storeValues } from '../events/blob.js'
import { isBlobRef } from '../events/content.js'
import type { InvalidDraft } from '../events/errors/index.js'

/**
 * Stores a payload one member of which was read from a log and so is in its stored form already (a `row`, what a
 * compaction keeps): the references and escaped keys in it stay as they are. `mark` is a text that occurs nowhere.
 */
export const storeAround = (
  payload: Readonly<Record<string, unknown>>,
  member: string,
  mark: string,
): E.Either<InvalidDraft, Stored> => {
  const refs: unknown[] = []
  const given = { ...payload, [member]: withoutRefs(payload[member], mark, refs) }
  return E.map(({ payload: stored, blobs }: Stored) => {
    const members = stored as Readonly<Record<string, unknown>>
    return { payload: { ...members, [member]: withRefs(members[member], mark, refs) }, blobs }
  })(storeValues(given))
}

/** The caller's form, but that each reference is a text that stands for it, under a key that is nobody's (`data` would be media). */
const withoutRefs = (value: unknown, mark: string, refs: unknown[]): unknown => {
  if (isBlobRef(value)) return `${mark}${refs.push(value) - 1}`
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map((item) => withoutRefs(item, mark, refs))
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [
      isBlobRef(item) ? `${mark}${key}` : key.startsWith('$$') ? key.slice(1) : key,
      withoutRefs(item, mark, refs),
    ]),
  )
}

const withRefs = (value: unknown, mark: string, refs: readonly unknown[]): unknown => {
  if (typeof value === 'string' && value.startsWith(mark)) return refs[Number(value.slice(mark.length))]
  if (typeof value !== 'object' || value === null || isBlobRef(value)) return value
  if (Array.isArray(value)) return value.map((item) => withRefs(item, mark, refs))
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [
      key.startsWith(mark) ? key.slice(mark.length) : key,
      withRefs(item, mark, refs),
    ]),
  )
}
