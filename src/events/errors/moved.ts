import { Tagged } from './tagged.js'

/** The log is no longer at its path: its session was archived, deleted or relocated by another process. */
export class Moved extends Tagged {
  readonly tag = 'Moved'
  constructor(readonly path: string) {
    super(
      'the log is no longer there',
      path,
      'it was archived, deleted or moved: look for it with `coppice list --all`',
    )
  }
}
