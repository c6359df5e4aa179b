import { Usage } from './errors/usage.js'

const second = 1000
const minute = 60 * second
const hour = 60 * minute
const day = 24 * hour

/** How long ago a time was, in the largest unit that fits: `3 h`. */
export const age = (at: string, now: number): string => {
  const ms = now - Date.parse(at)
  if (Number.isNaN(ms)) return '?'
  if (ms < minute) return 'now'
  if (ms < hour) return `${Math.floor(ms / minute)} min`
  if (ms < day) return `${Math.floor(ms / hour)} h`
  if (ms < 60 * day) return `${Math.floor(ms / day)} d`
  if (ms < 730 * day) return `${Math.floor(ms / (30 * day))} mo`
  return `${Math.floor(ms / (365 * day))} y`
}

const units: Readonly<Record<string, number>> = { s: second, m: minute, h: hour, d: day, w: 7 * day }

/** `30d`, `12h`, `90m`, `45s`, `2w` in milliseconds. */
export const duration = (text: string): number => {
  const match = /^(\d+)\s*([smhdw])$/.exec(text.trim())
  const unit = units[match?.[2] ?? '']
  if (match === null || unit === undefined)
    throw new Usage('no age', text, 'give a number and s, m, h, d or w, such as 30d')
  return Number(match[1]) * unit
}

/** A time as given, or an age before `now`, as ISO 8601 UTC. */
export const since = (text: string, now: number): string => {
  if (/^\d+\s*[smhdw]$/.test(text.trim())) return new Date(now - duration(text)).toISOString()
  const ms = Date.parse(text)
  if (Number.isNaN(ms)) throw new Usage('no time', text, 'give one such as 2026-12-01 or 7d')
  return new Date(ms).toISOString()
}
