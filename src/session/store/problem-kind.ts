import { Damaged, LogLostTail, NewerFormat, type Tagged } from '../../events/errors/index.js'

/** What stops a log from being read, in the words that docs/DAMAGE.md has an entry for. */
export const problemKindOf = (error: Tagged): string => {
  if (error instanceof Damaged) return error.damage.kind
  if (error instanceof LogLostTail) return 'lost-tail'
  return error instanceof NewerFormat ? 'newer-format' : error.tag
}
