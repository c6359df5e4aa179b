import { createReadStream } from 'node:fs'
import { dirname, join } from 'node:path'
import { firstRecords, startOf } from '../find.js'
import { splitLines } from '../lines.js'
import { isObject } from '../remainder.js'
import { objectOf, textOf } from './records.js'
import { promptsIn } from './speech.js'

/** The call that gave a sub-agent its prompt. */
export interface Call {
  readonly prompt: string
  readonly call: { readonly session: string; readonly event: string }
}

/**
 * Looks through the transcript of `parent` for the call that began the sub-agent of `source`: the first with the very
 * prompt that the sub-agent's file begins with. Only lines that hold the prompt's text are parsed.
 */
export const callOf = async (source: string, parent: string): Promise<Call | null> => {
  const first = firstRecords(await startOf(source))
    .filter(isObject)
    .find((value) => isObject(value.message))
  const prompt = first === undefined ? undefined : objectOf(first, 'message').content
  if (typeof prompt !== 'string' || prompt === '') return null
  const text = JSON.stringify(prompt)
  try {
    for await (const { bytes } of splitLines(
      createReadStream(join(dirname(dirname(dirname(source))), `${parent}.jsonl`)),
    )) {
      const event = bytes.includes(text) ? callerIn(bytes.toString(), prompt) : null
      if (event !== null) return { prompt, call: { session: parent, event } }
    }
  } catch {
    // Without the parent's transcript the call stays unknown.
  }
  return null
}

const callerIn = (line: string, prompt: string): string | null => {
  try {
    const value: unknown = JSON.parse(line)
    if (!isObject(value) || value.type !== 'assistant') return null
    return promptsIn(objectOf(value, 'message').content).includes(prompt) ? textOf(value, 'uuid') : null
  } catch {
    return null
  }
}
