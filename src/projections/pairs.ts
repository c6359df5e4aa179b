import type { EventId } from '../events/event.js'
import { callsOf, type Members, stringOf } from './members.js'

/** A message on a path. */
export interface PathMessage {
  readonly id: EventId
  readonly members: Members
}

/** Calls and results of a path, by (assistant event, call id). */
export interface Pairs<M extends PathMessage> {
  /** For each assistant event: its calls' results by call id, the last one written. */
  readonly results: ReadonlyMap<EventId, ReadonlyMap<string, M>>
  /** For each result: the assistant event that it answers. A result without a call is not here. */
  readonly callers: ReadonlyMap<EventId, M>
}

/**
 * A result answers the nearest message before it that made a call of its id. The last one written counts, also where
 * other messages came between: it says what really happened.
 */
export const pairsOf = <M extends PathMessage>(messages: Iterable<M>): Pairs<M> => {
  const newest = new Map<string, M>()
  const results = new Map<EventId, Map<string, M>>()
  const callers = new Map<EventId, M>()
  for (const message of messages) {
    if (message.members.role === 'assistant')
      for (const { id } of callsOf(message.members)) newest.set(id, message)
    if (message.members.role !== 'tool') continue
    const call = stringOf(message.members.toolCallId)
    const caller = call === null ? undefined : newest.get(call)
    if (call === null || caller === undefined) continue
    callers.set(message.id, caller)
    results.set(caller.id, (results.get(caller.id) ?? new Map<string, M>()).set(call, message))
  }
  return { results, callers }
}
