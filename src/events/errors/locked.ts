import { Tagged } from './tagged.js'

/** Another process kept the kernel lock of the file past the deadline. `pid` comes from presence, where it is known. */
export class Locked extends Tagged {
  readonly tag = 'Locked'
  constructor(
    path: string,
    readonly pid: number | null,
    waitedMs: number,
  ) {
    super(
      `locked by ${pid === null ? 'another process' : `process ${pid}`} for more than ${waitedMs} ms`,
      path,
      'wait until it is done, or stop it, and try again',
    )
  }
}
