import { objectIn, textIn } from '../members.js'
import type { Json } from '../remainder.js'
import type { Node } from '../thread.js'
import type { Frame } from './frame.js'

/** A call, as far as it was told. */
export interface Call {
  readonly id: string
  /** The members of all updates: what a later one names replaces. */
  told: Json
  readonly frames: Frame[]
  node: Node | null
  isDone: boolean
}

/** The calls of a session by their id. */
export class Calls {
  readonly #calls = new Map<string, Call>()

  get(id: string): Call | undefined {
    return this.#calls.get(id)
  }

  /** The call that an update speaks of. An id that begins again after its call was done is another call, if it is live. */
  of(id: string, update: Json, isReplay: boolean): Call {
    const known = this.#calls.get(id)
    const isAnew = update.sessionUpdate === 'tool_call' && known?.isDone === true && !isReplay
    if (known !== undefined && !isAnew) return known
    const call: Call = { id, told: {}, frames: [], node: null, isDone: false }
    this.#calls.set(id, call)
    return call
  }
}

/** Agents name a call for people; the tool's own name stands in their own members, if anywhere. */
export const nameOf = (told: Json): string =>
  textIn(objectIn(objectIn(told, '_meta'), 'claudeCode'), 'toolName') ??
  textIn(told, 'kind') ??
  textIn(told, 'title') ??
  'tool'
