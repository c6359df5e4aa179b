import type { Taken, TakeRequest } from '../../checkpoints/take.js'
import type { Draft } from '../../events/draft.js'

/** What to record, and whether the model is told of what others changed. */
export interface CodeRequest extends Omit<TakeRequest, 'session'> {
  readonly notice: boolean
}

/** What a look at the files came to: drafts to write in order, the checkpoint first. */
export interface CodeTaken {
  readonly drafts: readonly Draft[]
  readonly taken: Taken
}

/** The code of a session's workspace, as far as the session asks for it. Loaded when it first does. */
export interface CodeDesk {
  /** Never rejects for what the disk does: that is an event too. */
  take(request: CodeRequest): Promise<CodeTaken>
}
