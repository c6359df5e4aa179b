import { Tagged } from './tagged.js'

/** The event that was known as the log's last is nowhere in it: the file lost acknowledged events. Nothing is appended. */
export class LogLostTail extends Tagged {
  readonly tag = 'LogLostTail'
  constructor(
    readonly session: string,
    readonly known: string,
  ) {
    super(
      `log-lost-tail: the last known event ${known} is no longer in the log`,
      session,
      'look for the missing end in a backup; else accept the log as it stands with `coppice repair`, or with `coppice reindex` where it is whole',
    )
  }
}
