import { parsedJson } from '../members.js'
import { isObject, type Json } from '../remainder.js'

/**
 * Results of calls. Deep Code's own are JSON texts, which is what its model reads, and stay so. What another tool gave is
 * put into that form when it is written, with a mark in `meta`, by which it is taken out again.
 */
export const mark = 'coppice'

/** The mark's value. */
const wrapped = 'result'

/** `meta` of a result that came from elsewhere; `call` is the called function's object. */
export const resultMeta = (call: Json): Json => ({ function: call, [mark]: wrapped })

export const wrapResult = (output: string, name: unknown, ok: boolean): string =>
  JSON.stringify({ ok, name, [ok ? 'output' : 'error']: output }, null, 2)

/** What the other tool gave; null where the line is Deep Code's own. */
export const outputIn = (content: string | null, meta: unknown): string | null => {
  if (content === null || !isObject(meta) || meta[mark] !== wrapped) return null
  const value = parsedJson(content)
  const { ok, name, output, error } = isObject(value) ? value : {}
  const text = ok === true ? output : error
  if (typeof ok !== 'boolean' || typeof text !== 'string') return null
  return wrapResult(text, name, ok) === content && name === nameIn(meta) ? text : null
}

/** The called function's name. */
export const nameIn = (meta: unknown): unknown =>
  isObject(meta) && isObject(meta.function) ? meta.function.name : undefined

export const isWrapped = (meta: unknown): boolean => isObject(meta) && meta[mark] === wrapped
