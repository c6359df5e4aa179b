/** A JSON object. */
export type Json = Readonly<Record<string, unknown>>

export const isObject = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** Equal as JSON: member order does not count. */
export const sameJson = (a: unknown, b: unknown): boolean => {
  if (Array.isArray(a))
    return Array.isArray(b) && a.length === b.length && a.every((item, i) => sameJson(item, b[i]))
  if (!isObject(a) || !isObject(b)) return a === b
  const keys = Object.keys(a)
  return (
    keys.length === Object.keys(b).length &&
    keys.every((key) => Object.hasOwn(b, key) && sameJson(a[key], b[key]))
  )
}

/** Under this name stand the members that `said` has and the record has not. */
const absent = '-'
const escapeKey = (key: string): string => (/^-+$/.test(key) ? `-${key}` : key)
const unescapeKey = (key: string): string => (/^--+$/.test(key) ? key.slice(1) : key)

/**
 * What of a source record its payload does not say: `said` is the record as a writer would make it from the payload
 * alone. undefined where that is the whole record. `reunite` gives the record back, member by member.
 */
export const remainder = (record: Json, said: Json): Json | undefined => {
  const missing = Object.keys(said).filter((key) => said[key] !== undefined && !Object.hasOwn(record, key))
  const left = Object.entries(record).flatMap(([key, value]): [string, unknown][] => {
    const other = Object.hasOwn(said, key) ? said[key] : undefined
    if (!isObject(value) || !isObject(other))
      return other !== undefined && sameJson(value, other) ? [] : [[escapeKey(key), value]]
    const rest = remainder(value, other)
    return rest === undefined ? [] : [[escapeKey(key), rest]]
  })
  if (missing.length > 0) left.push([absent, missing])
  return left.length === 0 ? undefined : Object.fromEntries(left)
}

/** The record that `remainder(record, said)` was taken from. */
export const reunite = (extra: Json | undefined, said: Json): Json => {
  const missing = new Set((extra?.[absent] ?? []) as readonly string[])
  const kept = Object.entries(said).filter(([key, value]) => value !== undefined && !missing.has(key))
  const merged = new Map<string, unknown>(kept)
  for (const [key, value] of Object.entries(extra ?? {})) {
    if (key === absent) continue
    const name = unescapeKey(key)
    const other = merged.get(name)
    merged.set(name, isObject(value) && isObject(other) ? reunite(value, other) : value)
  }
  return Object.fromEntries(merged)
}
