import { listIn, parsedJson, textIn } from '../members.js'
import { isObject, type Json } from '../remainder.js'
import { normalTime } from '../time.js'

/** One call of a message's `toolCalls`: the call, and its result where it has one. */
export interface Call {
  readonly id: string
  readonly payload: Json
  readonly result: Json | null
  /** When it was done. */
  readonly at: string | null
}

const failed = new Set(['error', 'cancelled'])

export const callsOf = (message: Json, key: string): Call[] =>
  listIn(message, 'toolCalls').flatMap((call, i) => {
    if (!isObject(call)) return []
    const id = textIn(call, 'id') ?? `${key}#${i + 1}`
    const toolCalls = [{ id, name: textIn(call, 'name') ?? '', arguments: JSON.stringify(call.args) ?? '' }]
    return [
      {
        id,
        payload: { role: 'assistant', content: null, toolCalls, group: key },
        result: resultOf(call, id),
        at: normalTime(call.timestamp),
      },
    ]
  })

const resultOf = (call: Json, id: string): Json | null => {
  const status = textIn(call, 'status')
  const isDone = status === 'success' || failed.has(status ?? '')
  const given = call.result
  if (!isDone && (given === undefined || given === null)) return null
  return {
    role: 'tool',
    content: outputIn(given) ?? textIn(call, 'resultDisplay') ?? textIn(call, 'error') ?? '',
    toolCallId: id,
    ...(isDone ? { ok: status === 'success' } : {}),
  }
}

/** What the model was told: the text of a single response, else the JSON of all that there is. */
const outputIn = (given: unknown): string | null => {
  if (given === undefined || given === null) return null
  if (typeof given === 'string') return given
  const [only, ...others] = Array.isArray(given) ? (given as unknown[]) : [given]
  const response = isObject(only) ? only.functionResponse : undefined
  const told = isObject(response) ? response.response : undefined
  const text = isObject(told) ? (told.output ?? told.error) : undefined
  return typeof text === 'string' && others.length === 0 ? text : JSON.stringify(given)
}

/** The call that a writer makes of both payloads. */
export const saidCall = (payload: Json, result: Json | null, at: string | null): Json => {
  const [call] = payload.toolCalls as readonly { id: string; name: string; arguments: string }[]
  if (call === undefined) return {}
  const { id, name } = call
  const said = { id, name, args: call.arguments === '' ? undefined : parsedJson(call.arguments) }
  if (result === null) return said
  const { content, ok } = result
  const response = ok === false ? { error: content } : { output: content }
  return {
    ...said,
    result: [{ functionResponse: { id, name, response } }],
    status: ok === undefined ? undefined : ok === true ? 'success' : 'error',
    timestamp: at ?? undefined,
  }
}

/** A list as an object of its places, so that what is kept of it is kept item by item. */
export const byPlace = (list: unknown): unknown =>
  Array.isArray(list) ? Object.fromEntries(list.map((item, i) => [String(i), item as unknown])) : list
