import * as E from 'fp-ts/lib/Either.js'
import { type Draft, decodeDraft } from '../events/draft.js'
import { InvalidDraft } from '../events/errors/index.js'

/** What callers may append themselves: the rest has a command of its own, or belongs to the log. */
const reservedTypes = new Set(['session', 'head', 'recovered', 'redaction', 'repaired', 'lost'])

/** Drafts from outside, checked one by one; throws what is wrong with the first that is none. */
export const checkedDrafts = (drafts: readonly unknown[]): readonly Draft[] =>
  drafts.map((draft) => {
    const checked = decodeDraft(draft)
    if (E.isLeft(checked)) throw checked.left
    const { type } = checked.right
    if (reservedTypes.has(type))
      throw new InvalidDraft([`type ${type} cannot be appended: it is written by a command of its own`])
    return checked.right
  })
