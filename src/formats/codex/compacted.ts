import type { EventId } from '../../events/event.js'
import { listIn, textIn } from '../members.js'
import { isObject, type Json } from '../remainder.js'
import { coverable, type Node } from '../thread.js'
import { wordsOf } from './content.js'
import { messageOf } from './item.js'
import type { Spoken } from './spoken.js'

/** A `compacted` line as ours: what it covers, what of that stays, and the rest of its new history as the summary. */
export interface Compacted {
  readonly through: Node | null
  readonly summary: string | readonly Json[]
  readonly payload: (idOf: (key: string) => EventId | null, through: Node) => Json
  /** What a writer gives of it. */
  readonly said: Json
}

/**
 * Codex begins anew with `replacement_history`: messages of before that stay, and the summary, in no fixed place. The
 * ones that stand before the cut stay as `keep`; all else that can be read is the summary.
 */
export const compactedEvent = (payload: Json, tip: Node | null, spoken: Spoken): Compacted => {
  const through = coverable(tip, tip)
  const message = textIn(payload, 'message')
  const listed = listIn(payload, 'replacement_history').flatMap((item) => {
    const mapped = isObject(item) ? messageOf(item, '', () => undefined) : null
    return mapped === null ? [] : [mapped.payload]
  })
  // The summary itself comes last, even where the user once said the same.
  const endsInSummary = message !== null && wordsOf(listed.at(-1)?.content) === message
  const history = endsInSummary ? listed.slice(0, -1) : listed
  const kept = history.flatMap((one) => {
    const found = through === null ? undefined : spoken.find(one, through)
    return found === undefined ? [] : [found]
  })
  const rest = history
    .filter((one) => spoken.find(one, through) === undefined)
    .map((one) => wordsOf(one.content))
    .filter((text) => text !== '' && text !== message)
  const texts = [...rest, ...(message === null ? [] : [message])]
  const summary = texts.length === 1 ? (texts[0] ?? '') : texts.map((text) => ({ type: 'text', text }))
  const hasHistory = Array.isArray(payload.replacement_history)
  return {
    through,
    summary,
    payload: (idOf, cut) => ({
      summary,
      through: idOf(cut.key),
      ...(hasHistory
        ? { keep: kept.flatMap(({ node, message: said }) => keepOf(idOf(node.key), said)) }
        : {}),
    }),
    said: { message: texts.length === 1 ? summary : undefined },
  }
}

const keepOf = (id: EventId | null, message: Json): Json[] => (id === null ? [] : [{ id, message }])
