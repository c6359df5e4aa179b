import type { Usage } from '../../events/content.js'
import { isObject } from '../remainder.js'
import type { Losses } from './losses.js'

/** More tokens than anyone spent: sums of counts below it stay exact. */
const most = 1e12

const parts = ['cacheRead', 'cacheWrite', 'reasoning'] as const

/**
 * Counts as every tool reads them: whole, from 0 on, no part more than what it is a part of. null where there are none.
 * What had to be changed for that is told.
 */
export const wholeUsage = (given: unknown, losses: Losses, key: string): Usage | null => {
  if (!isObject(given)) return null
  const input = countOf(given.input, most)
  const output = countOf(given.output, most)
  if (input === null || output === null) {
    losses.add('usage', key)
    return null
  }
  const cacheRead = countOf(given.cacheRead, input)
  const cacheWrite = countOf(given.cacheWrite, input - (cacheRead ?? 0))
  const reasoning = countOf(given.reasoning, output)
  const found = { cacheRead, cacheWrite, reasoning }
  const told = parts.flatMap((name) => (found[name] === null ? [] : [[name, found[name]] as const]))
  const usage: Usage = {
    input,
    output,
    ...Object.fromEntries(told),
    ...(typeof given.costUsd === 'number' ? { costUsd: given.costUsd } : {}),
  }
  const isSame = Object.entries(usage).every(([name, count]) => given[name] === count)
  if (!isSame) losses.add('usage parts', key)
  return usage
}

const countOf = (value: unknown, limit: number): number | null =>
  typeof value === 'number' && Number.isFinite(value)
    ? Math.min(Math.max(0, Math.round(value)), Math.max(0, limit))
    : null

/** A count by itself; 0 where it is none. */
export const wholeCount = (value: unknown): number => countOf(value, most) ?? 0
