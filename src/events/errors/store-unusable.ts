import { Tagged } from './tagged.js'

/** A folder that is no store, or one that cannot be read or written. */
export class StoreUnusable extends Tagged {
  readonly tag = 'StoreUnusable'
  constructor(
    what: string,
    readonly path: string,
    hint: string,
    cause?: unknown,
  ) {
    super(what, path, hint, { cause })
  }
}
