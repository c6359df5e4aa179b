import { Tagged } from '../../events/errors/tagged.js'

/**
 * A restore that did not come to its end. `rolledBack`: every file is as it was; else the next open of the workspace puts
 * back what is left, from the journal.
 */
export class RestoreFailed extends Tagged {
  readonly tag = 'RestoreFailed'
  constructor(
    why: string,
    where: string,
    readonly rolledBack: boolean,
    cause?: unknown,
  ) {
    super(
      `the files were not restored (${why})`,
      where,
      rolledBack
        ? 'every file is as it was: see to it, then try again'
        : 'open the workspace again to put them back',
      { cause },
    )
  }
}
