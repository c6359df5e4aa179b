import { Tagged } from './tagged.js'

/** A command that the session's state does not allow: wrong now, though well formed. `conflict`: because of what others did. */
export class Refused extends Tagged {
  readonly tag = 'Refused'
  constructor(
    readonly reason: string,
    where: string,
    hint: string,
    readonly conflict = false,
  ) {
    super(reason, where, hint)
  }
}
