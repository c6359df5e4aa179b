import type { Tokens } from '../../projections/usage-tally.js'

/** `950`, `1.2k`, `34k`, `1.2M`. */
export const short = (count: number): string => {
  const size = Math.abs(count)
  if (size < 1000) return `${Math.round(count)}`
  const [scaled, unit] = size < 999_500 ? [count / 1000, 'k'] : [count / 1_000_000, 'M']
  return `${Math.abs(scaled) < 9.95 ? scaled.toFixed(1).replace(/\.0$/, '') : Math.round(scaled)}${unit}`
}

/** `340 ms`, `2.1 s`, `4 min 10 s`, `3 h 5 min`, `2 d 4 h`. */
export const duration = (ms: number): string => {
  if (ms < 1000) return `${Math.max(0, Math.round(ms))} ms`
  if (ms < 9950) return `${(ms / 1000).toFixed(1)} s`
  const seconds = Math.round(ms / 1000)
  const units = [
    [86_400, 'd'],
    [3600, 'h'],
    [60, 'min'],
    [1, 's'],
  ] as const
  const first = units.findIndex(([size]) => seconds >= size)
  const [size, unit] = units[first] ?? [1, 's']
  const next = units[first + 1]
  const rest = next === undefined ? 0 : Math.floor((seconds % size) / next[0])
  return `${Math.floor(seconds / size)} ${unit}${rest > 0 && next !== undefined ? ` ${rest} ${next[1]}` : ''}`
}

/** US dollars: `$1.23`, `$0.0042`. */
export const money = (usd: number): string =>
  `$${usd >= 0.995 || usd <= 0 ? usd.toFixed(2) : usd.toPrecision(2)}`

export const bytes = (count: number): string =>
  count < 1000
    ? `${count} B`
    : count < 999_500
      ? `${(count / 1000).toFixed(1)} kB`
      : `${(count / 1e6).toFixed(1)} MB`

/** `2026-12-01 09:00:01`, UTC. */
export const dateTime = (at: string): string => at.slice(0, 19).replace('T', ' ')
export const time = (at: string): string => at.slice(11, 19)

const grouped = (count: number): string => `${count}`.replace(/\B(?=(\d{3})+$)/g, ',')

export const plural = (count: number, one: string, many = `${one}s`): string =>
  `${grouped(count)} ${count === 1 ? one : many}`

/** What something cost, a few words each: `12k in (11k cached)`, `340 out (120 reasoning)`, `$0.012`. */
export const spent = (usage: Tokens): readonly string[] => {
  const { input, output, cacheRead, cacheWrite, reasoning, costUsd } = usage
  const cached = [
    cacheRead > 0 ? `${short(cacheRead)} cached` : '',
    cacheWrite > 0 ? `${short(cacheWrite)} to cache` : '',
  ].filter((part) => part !== '')
  return [
    `${short(input)} in${cached.length > 0 ? ` (${cached.join(', ')})` : ''}`,
    `${short(output)} out${reasoning > 0 ? ` (${short(reasoning)} reasoning)` : ''}`,
    ...(costUsd === undefined ? [] : [money(costUsd)]),
  ]
}
