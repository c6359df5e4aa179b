import type { Usage } from '../../events/content.js'
import { countIn, objectIn, textIn } from '../members.js'
import { isObject, type Json } from '../remainder.js'
import { normalTime } from '../time.js'

/** What a message's own record says of it. */

/** When OpenCode began the message; null where it names no time. */
export const createdAt = (info: Json): string | null => normalTime(objectIn(info, 'time').created)

/** OpenCode counts cached tokens beside `input`, and its cost in dollars. undefined where it gives no numbers. */
export const usageOf = (info: Json): Usage | undefined => {
  const tokens = objectIn(info, 'tokens')
  const input = countIn(tokens, 'input')
  const output = countIn(tokens, 'output')
  if (input === undefined || output === undefined) return undefined
  const cache = objectIn(tokens, 'cache')
  const cacheRead = countIn(cache, 'read')
  const cacheWrite = countIn(cache, 'write')
  const reasoning = countIn(tokens, 'reasoning')
  const costUsd = countIn(info, 'cost')
  return {
    input: input + (cacheRead ?? 0) + (cacheWrite ?? 0),
    output: output + (reasoning ?? 0),
    ...(cacheRead === undefined ? {} : { cacheRead }),
    ...(cacheWrite === undefined ? {} : { cacheWrite }),
    ...(reasoning === undefined ? {} : { reasoning }),
    ...(costUsd === undefined ? {} : { costUsd }),
  }
}

/** Model and provider, which older and newer versions put in different places. */
export const modelOf = (info: Json): Json => {
  const model = objectIn(info, 'model')
  const name = textIn(info, 'modelID') ?? textIn(model, 'modelID')
  const provider = textIn(info, 'providerID') ?? textIn(model, 'providerID')
  return { ...(name === null ? {} : { model: name }), ...(provider === null ? {} : { provider }) }
}

/** Whether nothing more will be written to a reply. */
export const isWhole = (info: Json): boolean =>
  objectIn(info, 'time').completed !== undefined || info.finish !== undefined || isObject(info.error)

/** What a reply cost (where its steps do not tell), how it ended, and how long it took: an event of its last group. */
export const endOf = (info: Json, isCounted = false): Json => {
  const usage = isCounted ? undefined : usageOf(info)
  const stop = textIn(info, 'finish')
  const { created, completed } = objectIn(info, 'time')
  const startedAt = normalTime(created)
  const completedAt = normalTime(completed)
  return {
    ...(usage === undefined ? {} : { usage }),
    ...(stop === null ? {} : { stop }),
    ...(startedAt === null || completedAt === null
      ? {}
      : {
          timing: {
            startedAt,
            completedAt,
            durationMs: Date.parse(completedAt) - Date.parse(startedAt),
          },
        }),
  }
}

/** The members of the record that `endOf` and `modelOf` tell. */
export const saidEnd = ({ usage, stop, timing, model, provider }: Json): Json => ({
  modelID: model,
  providerID: provider,
  finish: stop,
  ...(usage === undefined ? {} : saidUsage(usage as Usage)),
  ...(isObject(timing) ? { time: { completed: Date.parse(String(timing.completedAt)) } } : {}),
})

export const saidUsage = (usage: Usage): Json => {
  const { input, output, cacheRead = 0, cacheWrite = 0, reasoning = 0, costUsd } = usage
  return {
    tokens: {
      input: input - cacheRead - cacheWrite,
      output: output - reasoning,
      reasoning,
      cache: { read: cacheRead, write: cacheWrite },
    },
    cost: costUsd,
  }
}
