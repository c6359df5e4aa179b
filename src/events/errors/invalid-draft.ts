import { Tagged } from './tagged.js'

/** A draft that is no event of format 1: `reasons` names each member and what it should be. */
export class InvalidDraft extends Tagged {
  readonly tag = 'InvalidDraft'
  constructor(readonly reasons: readonly string[]) {
    super(`not an event: ${reasons.join('; ')}`, '', 'see docs/FORMAT.md for the members of each type')
  }
}
