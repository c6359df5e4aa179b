import { isFiniteNumber, objectIn, textIn } from '../members.js'
import { isObject, type Json } from '../remainder.js'
import type { Outcome } from './item.js'

const ends = new Set(['exec_command_end', 'mcp_tool_call_end', 'patch_apply_end'])

/** How a call went, as an event beside its output tells it; null where the event tells of no call. */
export const outcomeOf = (payload: Json): (Outcome & { readonly call: string }) | null => {
  const call = textIn(payload, 'call_id')
  if (call === null || !ends.has(textIn(payload, 'type') ?? '')) return null
  const ok = okIn(payload)
  const { secs, nanos } = objectIn(payload, 'duration')
  // Nothing takes no time at all: there, nobody measured it.
  const durationMs =
    isFiniteNumber(secs) && isFiniteNumber(nanos) ? secs * 1000 + nanos / 1e6 || undefined : undefined
  return {
    call,
    ...(ok === undefined ? {} : { ok }),
    ...(durationMs === undefined ? {} : { durationMs }),
  }
}

const okIn = (payload: Json): boolean | undefined => {
  const { exit_code: code, success, result } = payload
  if (typeof code === 'number') return code === 0
  if (typeof success === 'boolean') return success
  if (!isObject(result)) return undefined
  return isObject(result.Ok) ? result.Ok.isError !== true : 'Err' in result ? false : undefined
}
