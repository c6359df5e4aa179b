import { Tagged } from '../../events/errors/tagged.js'

/** The command line itself is wrong: exit 2. */
export class Usage extends Tagged {
  readonly tag = 'Usage'
}

/** What this version does not have yet: exit 2, said plainly. */
export const notYet = (what: string): Usage =>
  new Usage(`this version does not have ${what} yet`, '', 'see `coppice --help` for what it has')
