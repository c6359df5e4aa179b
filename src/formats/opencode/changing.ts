import { objectIn } from '../members.js'
import type { Json } from '../remainder.js'

/** The title that OpenCode gives a session until it has written one. */
export const derivedTitle = /^(New session|Child session) - /

/** Members of a session's record that change while it goes on: the root holds only what stays. */
const changing = new Set([
  'title',
  'revert',
  'summary',
  'share',
  'permission',
  'cost',
  'tokens',
  'agent',
  'model',
  'goal',
])

export const split = (info: Json): { stays: Json; changes: Json } => {
  const { created, ...times } = objectIn(info, 'time')
  const { time: _, revert: __, ...rest } = info
  const changes = Object.entries(rest).filter(([name]) => changing.has(name) && name !== 'title')
  return {
    stays: {
      ...Object.fromEntries(Object.entries(rest).filter(([name]) => !changing.has(name))),
      ...(created === undefined ? {} : { time: { created } }),
    },
    changes: { ...Object.fromEntries(changes), ...(Object.keys(times).length > 0 ? { time: times } : {}) },
  }
}
