import { isObject, type Json } from '../remainder.js'

/** The nine members of `timing`; where nothing was measured, the record took no time. */
export const timingOf = (given: unknown, at: string): Json => {
  const timing = isObject(given) ? given : {}
  const started = timeIn(timing.startedAt)
  const completed = timeIn(timing.completedAt)
  const took = spanIn(timing.durationMs)
  const end = completed ?? at
  const start = started ?? (took === null ? end : moved(end, -took))
  const first = spanIn(timing.firstTokenMs)
  const thought = spanIn(timing.reasoningMs)
  const opened = first === null ? null : moved(start, first)
  return {
    started_at: start,
    completed_at: end,
    duration_ns: nanoseconds(took ?? Math.max(0, Date.parse(end) - Date.parse(start))),
    ...span('reasoning', thought === null ? null : opened, thought ?? 0),
    ...span(
      'content',
      thought === null ? opened : null,
      took === null || first === null ? 0 : Math.max(0, took - first),
    ),
  }
}

/** Whether the nine members cannot say all of it: how long it thought is told only with when that began. */
export const losesTiming = (timing: unknown): boolean =>
  isObject(timing) && timing.reasoningMs !== undefined && spanIn(timing.firstTokenMs) === null

const span = (name: string, start: string | null, ms: number): Json => ({
  [`${name}_started_at`]: start,
  [`${name}_completed_at`]: start === null ? null : moved(start, ms),
  [`${name}_duration_ns`]: start === null ? null : nanoseconds(ms),
})

/** As ZettCode reads times: those that are told otherwise are told anew. */
const timeIn = (value: unknown): string | null => {
  const ms = typeof value === 'string' ? Date.parse(value) : Number.NaN
  if (!(ms >= earliest && ms <= latest)) return null
  return plainTime.test(String(value)) ? String(value) : new Date(ms).toISOString()
}
const plainTime = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d{1,6})?Z$/
const earliest = Date.UTC(1000, 0)
const latest = Date.UTC(9000, 0)

const spanIn = (value: unknown): number | null =>
  typeof value === 'number' && Number.isFinite(value) && value >= 0 && value < longest ? value : null
/** A century: what is longer was not measured. */
const longest = 3.2e12

/** Within the years that have four digits. */
const moved = (at: string, ms: number): string =>
  new Date(Math.min(Math.max(Date.parse(at) + ms, earliest), latest)).toISOString()

const nanoseconds = (ms: number): number => Math.round(ms * 1e6)
