import { totalsOf } from '../../projections/usage-tally.js'
import { duration, money, plural, short } from './quantity.js'
import type { Turn } from './turns.js'

/** Duration, tokens, money: what is known. */
export const factsOf = ({ startedAt, endedAt, tally, calls }: Turn): readonly string[] => {
  const ms = Date.parse(endedAt) - Date.parse(startedAt)
  const { total, requests } = totalsOf(tally)
  return [
    ...(ms > 0 ? [duration(ms)] : []),
    ...(requests > 0 ? [`${short(total.input + total.output)} tokens`] : []),
    ...(total.costUsd === undefined ? [] : [money(total.costUsd)]),
    ...(calls > 0 ? [plural(calls, 'call')] : []),
  ]
}
