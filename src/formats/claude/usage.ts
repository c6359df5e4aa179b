import type { Usage } from '../../events/content.js'
import { isObject, type Json } from '../remainder.js'

const count = (value: unknown): number | undefined =>
  typeof value === 'number' && Number.isFinite(value) && value >= 0 ? value : undefined

/** Claude counts cached tokens beside `input_tokens`; ours includes them. undefined where it gives no numbers. */
export const usageOf = (given: unknown): Usage | undefined => {
  if (!isObject(given)) return undefined
  const input = count(given.input_tokens)
  const output = count(given.output_tokens)
  const cacheRead = count(given.cache_read_input_tokens)
  const cacheWrite = count(given.cache_creation_input_tokens)
  if (input === undefined || output === undefined) return undefined
  return {
    input: input + (cacheRead ?? 0) + (cacheWrite ?? 0),
    output,
    ...(cacheRead === undefined ? {} : { cacheRead }),
    ...(cacheWrite === undefined ? {} : { cacheWrite }),
  }
}

export const saidUsage = ({ input, output, cacheRead, cacheWrite }: Usage): Json => ({
  input_tokens: input - (cacheRead ?? 0) - (cacheWrite ?? 0),
  output_tokens: output,
  ...(cacheRead === undefined ? {} : { cache_read_input_tokens: cacheRead }),
  ...(cacheWrite === undefined ? {} : { cache_creation_input_tokens: cacheWrite }),
})
