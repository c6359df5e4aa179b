import type { Usage } from '../../events/content.js'
import { countIn } from '../members.js'
import { isObject, type Json } from '../remainder.js'

const names = {
  input: 'input_tokens',
  output: 'output_tokens',
  cacheRead: 'cached_input_tokens',
  cacheWrite: 'cache_write_input_tokens',
  reasoning: 'reasoning_output_tokens',
} as const

/** Codex counts as we do: `input_tokens` includes what the cache gave. undefined where it gives no numbers. */
export const usageOf = (given: unknown): Usage | undefined => {
  if (!isObject(given)) return undefined
  const found = Object.entries(names).flatMap(([ours, theirs]) => {
    const count = countIn(given, theirs)
    return count === undefined ? [] : [[ours, count] as const]
  })
  const usage = Object.fromEntries(found) as Partial<Usage>
  return usage.input === undefined || usage.output === undefined ? undefined : (usage as Usage)
}

export const saidUsage = (usage: Usage): Json => {
  const said = Object.entries(names).flatMap(([ours, theirs]) => {
    const count = usage[ours as keyof typeof names]
    return count === undefined ? [] : [[theirs, count] as const]
  })
  return { ...Object.fromEntries(said), total_tokens: usage.input + usage.output }
}
