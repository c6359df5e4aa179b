import { Tagged } from '../../events/errors/tagged.js'

/** A checkpoint that was asked for could not be taken. The log says so too. */
export class CheckpointFailed extends Tagged {
  readonly tag = 'CheckpointFailed'
  constructor(
    readonly why: string,
    session: string,
  ) {
    super(
      `no checkpoint was taken (${why})`,
      session,
      'see to it, then take one again before the files change',
    )
  }
}
