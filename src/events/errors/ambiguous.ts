import { Tagged } from './tagged.js'

/** A prefix or a name that fits several: `candidates` holds the full ids. */
export class Ambiguous extends Tagged {
  readonly tag = 'Ambiguous'
  constructor(
    readonly kind: 'session' | 'event',
    readonly named: string,
    readonly candidates: readonly string[],
  ) {
    super(`${kind} ${named} is ambiguous`, candidates.join(', '), 'give more characters of the id')
  }
}
