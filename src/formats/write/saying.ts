import { isObject, type Json } from '../remainder.js'
import { partsOf, reasonsOf } from './groups.js'
import { callsOf } from './steps.js'

/** What several writers ask of what is said. */

const isNone = (value: unknown): boolean =>
  partsOf(value).every((part) => part.type === 'text' && part.text === '')

/** Whether nothing is said, as far as the structure tells: no words, no thought, no call. */
export const isSilent = (members: Json): boolean =>
  isNone(members.content) &&
  isNone(members.refusal) &&
  reasonsOf(members.reasoning).length === 0 &&
  callsOf(members).length === 0

/** A block of the provider's own that holds reasoning: only it can read that. */
export const isHiddenThought = (block: unknown): boolean =>
  isObject(block) && (/reasoning|thinking/.test(String(block.type)) || 'encrypted_content' in block)

/** A summary as one text; `lost` is told of each part that is none. */
export const summaryText = (summary: unknown, lost: () => void): string =>
  partsOf(summary)
    .flatMap(({ text }) => {
      if (typeof text !== 'string') lost()
      return typeof text === 'string' ? [text] : []
    })
    .join('\n')

/** Words that are there and empty, beside a thought: as a text, which some formats hold alone, there is nothing to tell. */
export const isBareThought = (members: Json): boolean =>
  Array.isArray(members.content) &&
  isNone(members.content) &&
  isNone(members.refusal) &&
  reasonsOf(members.reasoning).length > 0 &&
  callsOf(members).length === 0

export const bareThought =
  'reasoning of an answer that says nothing else: written, but no longer told to the model'
