import { Tagged } from '../../events/errors/tagged.js'

/** A file that could not be read whole: no permission, a failing disk, or it changes while it is read. */
export class Unreadable extends Tagged {
  readonly tag = 'Unreadable'
  constructor(
    readonly path: string,
    readonly why: string,
    cause?: unknown,
  ) {
    super(`cannot be read (${why})`, path, 'make it readable, or leave it out', { cause })
  }
}
