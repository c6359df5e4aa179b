import { Tagged } from '../../events/errors/tagged.js'

/** A file that a tool's sessions share is not what it should be: writing it anew would lose what it holds. */
export class IndexUnreadable extends Tagged {
  readonly tag = 'IndexUnreadable'
  constructor(name: string, reason: string, tool: string) {
    super(`${name} ${reason}`, `${tool}'s folder`, 'mend it or move it away, then export again')
  }
}
