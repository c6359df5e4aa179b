import { Tagged } from './tagged.js'

/** Another writer appended since `expected`: the log ends in `actual` (null: it has no event). A value, not a fault (INV-7). */
export class StaleTail extends Tagged {
  readonly tag = 'StaleTail'
  constructor(
    session: string,
    readonly expected: string | null,
    readonly actual: string | null,
  ) {
    super(
      `the log ends in ${actual ?? 'nothing'}, not in ${expected ?? 'nothing'}`,
      session,
      'read what came between and decide again',
    )
  }
}
