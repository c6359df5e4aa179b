import type { Usage } from '../../events/content.js'
import { countIn } from '../members.js'
import { isObject } from '../remainder.js'

/** What an answer to a prompt says of its cost; undefined where it gives no numbers. */
export const usageOf = (given: unknown): Usage | undefined => {
  if (!isObject(given)) return undefined
  const input = countIn(given, 'inputTokens')
  const output = countIn(given, 'outputTokens')
  if (input === undefined || output === undefined) return undefined
  const cacheRead = countIn(given, 'cachedReadTokens')
  const cacheWrite = countIn(given, 'cachedWriteTokens')
  const reasoning = countIn(given, 'thoughtTokens')
  return {
    input: input + (cacheRead ?? 0) + (cacheWrite ?? 0),
    output,
    ...(cacheRead === undefined ? {} : { cacheRead }),
    ...(cacheWrite === undefined ? {} : { cacheWrite }),
    ...(reasoning === undefined ? {} : { reasoning }),
  }
}
