import { Tagged } from './tagged.js'

/** Nothing of that name: a session, an event, a blob, a workspace. */
export class NotFound extends Tagged {
  readonly tag = 'NotFound'
  constructor(
    readonly kind: 'session' | 'event' | 'blob' | 'workspace' | 'file' | 'projection',
    readonly named: string,
    where: string,
    hint: string,
  ) {
    super(`no ${kind} ${named}`, where, hint)
  }
}
