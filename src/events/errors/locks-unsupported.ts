import { Tagged } from './tagged.js'

/** The file system has no kernel locks, so two writers could not see each other: writing is refused. */
export class LocksUnsupported extends Tagged {
  readonly tag = 'LocksUnsupported'
  constructor(path: string, cause: unknown) {
    super('this file system has no file locks', path, 'keep the store on a local disk (see --store)', {
      cause,
    })
  }
}
