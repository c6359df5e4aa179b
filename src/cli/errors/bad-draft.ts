import { Tagged } from '../../events/errors/tagged.js'

/** A line of stdin that is no draft, or one that the session does not take: what came before it is stored. */
export class BadDraft extends Tagged {
  readonly tag = 'BadDraft'
  constructor(
    readonly line: number,
    readonly reason: string,
    cause?: unknown,
  ) {
    super(
      `bad draft: ${reason}`,
      `stdin, line ${line}`,
      'mend it and go on from there: what came before is stored',
      { cause },
    )
  }
}
