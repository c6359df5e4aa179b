import type { Usage } from '../events/content.js'
import type { Event } from '../events/event.js'
import { type Members, numberOf, own, recordOf, stringOf } from './members.js'

/** Tokens, every count given; `costUsd` in US dollars where any is known. `input` includes what the cache gave. */
export interface Tokens extends Usage {
  readonly cacheRead: number
  readonly cacheWrite: number
  readonly reasoning: number
}

/** What one request to a model cost. `group`: the message it belongs to, where several events are one. */
export interface Spending {
  readonly group: string | null
  readonly model: string
  readonly usage: Tokens
}

/** What one model cost, and in how many requests. */
export type Counted = Tokens & { readonly requests: number }

/** Totals. `last` is the newest grouped spending: a later event of its group replaces it, so it is not yet in the sums. */
export interface Tally {
  readonly total: Tokens
  readonly models: Readonly<Record<string, Counted>>
  readonly requests: number
  readonly last: Spending | null
}

const noTokens: Tokens = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, reasoning: 0 }
export const emptyTally: Tally = { total: noTokens, models: {}, requests: 0, last: null }

/** A usage as a line holds it; null where it holds none. */
export const readUsage = (value: unknown): Tokens | null => {
  const usage = recordOf(value)
  if (usage === null) return null
  const counts = ['input', 'output', 'cacheRead', 'cacheWrite', 'reasoning'].map((name) =>
    numberOf(usage[name]),
  )
  const costUsd = numberOf(usage.costUsd)
  if (costUsd === null && counts.every((count) => count === null)) return null
  const [input = 0, output = 0, cacheRead = 0, cacheWrite = 0, reasoning = 0] = counts.map(
    (count) => count ?? 0,
  )
  return { input, output, cacheRead, cacheWrite, reasoning, ...(costUsd === null ? {} : { costUsd }) }
}

/** Sums stay finite whatever a log claims, so that a saved fold reads back as it was. */
const sum = (a: number, b: number): number => Math.max(-Number.MAX_VALUE, Math.min(Number.MAX_VALUE, a + b))

const addTokens = (a: Tokens, b: Tokens): Tokens => {
  const costUsd =
    a.costUsd === undefined && b.costUsd === undefined ? {} : { costUsd: sum(a.costUsd ?? 0, b.costUsd ?? 0) }
  return {
    input: sum(a.input, b.input),
    output: sum(a.output, b.output),
    cacheRead: sum(a.cacheRead, b.cacheRead),
    cacheWrite: sum(a.cacheWrite, b.cacheWrite),
    reasoning: sum(a.reasoning, b.reasoning),
    ...costUsd,
  }
}

export const addCounted = (a: Counted | undefined, usage: Tokens): Counted => ({
  ...addTokens(a ?? noTokens, usage),
  requests: (a?.requests ?? 0) + 1,
})

/** What an event cost: a message, a compaction, or a `usage` note; null for the others. */
export const spendingOf = (event: Event, members: Members): Spending | null => {
  if (event.type !== 'message' && event.type !== 'compaction' && event.type !== 'usage') return null
  const usage = readUsage(members.usage)
  if (usage === null) return null
  return { group: groupOf(event, members), model: stringOf(members.model) || 'unknown', usage }
}

/** The group of a message; a tool's result belongs to none. */
export const groupOf = (event: Event, members: Members): string | null =>
  event.type === 'message' && members.role !== 'tool' ? stringOf(members.group) : null

/** Counts one event: a group counts once, by its last usage. */
export const tallyUp = (tally: Tally, event: Event, members: Members): Tally => {
  const spending = spendingOf(event, members)
  const group = groupOf(event, members)
  if (group === null) return spending === null ? tally : addSpending(tally, spending)
  if (group === tally.last?.group) return spending === null ? tally : { ...tally, last: spending }
  return spending === null && tally.last === null ? tally : { ...settled(tally), last: spending }
}

const addSpending = (tally: Tally, { model, usage }: Spending): Tally => ({
  total: addTokens(tally.total, usage),
  models: { ...tally.models, [model]: addCounted(own(tally.models, model), usage) },
  requests: tally.requests + 1,
  last: tally.last,
})

const settled = (tally: Tally): Tally =>
  tally.last === null ? tally : { ...addSpending(tally, tally.last), last: null }

/** The sums as they are shown, the last group counted. */
export const totalsOf = (tally: Tally): Pick<Tally, 'total' | 'models' | 'requests'> => {
  const { total, models, requests } = settled(tally)
  return { total, models, requests }
}
