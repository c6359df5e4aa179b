import type { Usage } from '../../events/content.js'
import { countIn } from '../members.js'
import { isObject, type Json } from '../remainder.js'

/** Tokens as Deep Code counts them: sums for a session, in all and by model. */

export const saidUsage = ({ input, output, cacheRead, reasoning }: Usage): Json => ({
  prompt_tokens: input,
  completion_tokens: output,
  total_tokens: input + output,
  ...(cacheRead === undefined ? {} : { prompt_tokens_details: { cached_tokens: cacheRead } }),
  ...(reasoning === undefined ? {} : { completion_tokens_details: { reasoning_tokens: reasoning } }),
})

/** Numbers are added up, within objects too; what is none is replaced. */
export const addUsage = (sum: Json | null, more: Json): Json => {
  const total = new Map(Object.entries(sum ?? {}))
  for (const [name, value] of Object.entries(more)) {
    const before = total.get(name)
    if (typeof value === 'number' && typeof before === 'number') total.set(name, before + value)
    else if (isObject(value)) total.set(name, addUsage(isObject(before) ? before : null, value))
    else total.set(name, value)
  }
  return Object.fromEntries(total)
}

/** What each model's messages cost; `known` is what the index had. null where there is nothing. */
export const usageByModel = (
  costs: readonly { readonly model?: unknown; readonly usage: Usage }[],
  known: unknown,
): Json | null => {
  const models = new Map(Object.entries(isObject(known) ? known : {}))
  for (const { model, usage } of costs) {
    const name = typeof model === 'string' && model !== '' ? model : 'unknown'
    const before = models.get(name)
    const sum = addUsage(isObject(before) ? before : null, saidUsage(usage))
    models.set(name, { ...sum, total_reqs: (countIn(isObject(before) ? before : {}, 'total_reqs') ?? 0) + 1 })
  }
  return models.size === 0 ? null : Object.fromEntries(models)
}
