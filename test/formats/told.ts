import { parsedJson } from '../../src/formats/members.js'
import { isObject, type Json } from '../../src/formats/remainder.js'
import { wholeText } from '../../src/formats/write/whole.js'
import type { ContextMessage } from '../../src/projections/context.js'

/**
 * A context as one list of what is told: words, images, calls, results, the summary. How a format cuts words into
 * messages and parts does not count, nor do blanks between them.
 */

export type Told =
  | { readonly kind: 'words'; readonly role: string; readonly text: string }
  | { readonly kind: 'media'; readonly type: string; readonly of: string }
  | { readonly kind: 'call'; readonly name: string; readonly arguments: unknown }
  | { readonly kind: 'result'; readonly to: number; readonly failed: boolean }
  | { readonly kind: 'thought'; readonly text: string }

/** `losses`: kinds of what a writer said it lost; what they cover is left out on both sides. */
export const toldOf = (given: readonly ContextMessage[], losses: ReadonlySet<string>): readonly Told[] => {
  const context = losses.has('half characters') ? given.map(withoutHalves) : given
  const calls: Calls = { places: new Map(), count: 0 }
  const messages = context
    .filter(({ role }) => role !== 'system' || !losses.has('system messages'))
    .map((message) => ({ message, told: toldBy(message, calls, losses) }))
  const told = leavesOut.some((kind) => losses.has(kind))
    ? inRuns(messages.filter((one) => !one.told.every(isSilent)))
    : messages.flatMap((one) => one.told)
  return joined(losses.has('pinned messages') ? told.toSorted(summaryFirst) : told)
}

/** The number of each call, by its id: of those with one id the last. */
interface Calls {
  readonly places: Map<string, number>
  count: number
}

const toldBy = (message: ContextMessage, calls: Calls, losses: ReadonlySet<string>): readonly Told[] => {
  const told: Told[] = []
  if (!losses.has('reasoning')) told.push(...thoughts(message.reasoning))
  if (message.role === 'tool')
    told.push({
      kind: 'result',
      to: calls.places.get(message.toolCallId ?? '') ?? -1,
      failed: message.ok === false && !losses.has('failed results'),
    })
  const role = message.summary === true ? 'summary' : message.role
  told.push(...contentOf(message.content, role, losses))
  told.push(...contentOf(message.refusal, role, losses))
  for (const { id, name, arguments: given } of message.toolCalls ?? []) {
    calls.places.set(id, calls.count++)
    told.push({
      kind: 'call',
      name: losses.has('tool names') ? '' : name,
      arguments: losses.has('arguments') ? null : (parsedJson(String(given) || '{}') ?? given),
    })
  }
  return told
}

/** Losses of whole messages, which may have stood between two of the model's. */
const leavesOut = ['empty messages', 'system messages', 'asides', 'kept from the model', 'own events']

/**
 * Where what stood between two messages of the model's is lost, they may be read again as one; in one message, what was
 * thought stands before what was said.
 */
const inRuns = (
  messages: readonly { readonly message: ContextMessage; readonly told: readonly Told[] }[],
): readonly Told[] => {
  const runs: { readonly isModel: boolean; readonly told: Told[] }[] = []
  for (const { message, told } of messages) {
    const isModel = message.role === 'assistant'
    const last = runs.at(-1)
    if (isModel && last?.isModel === true) last.told.push(...told)
    else runs.push({ isModel, told: [...told] })
  }
  return runs.flatMap(({ isModel, told }) =>
    isModel ? told.toSorted((a, b) => Number(b.kind === 'thought') - Number(a.kind === 'thought')) : told,
  )
}

const isSilent = (one: Told): boolean =>
  (one.kind === 'words' || one.kind === 'thought') && bare(one.text) === ''

/** Arguments are JSON, in which halves are escaped. */
const withoutHalves = (message: ContextMessage): ContextMessage => {
  const { toolCalls = [], ...rest } = wholeText(message, () => {})
  const calls = toolCalls.map((call) => {
    const value = parsedJson(String(call.arguments))
    return value === undefined ? call : { ...call, arguments: JSON.stringify(wholeText(value, () => {})) }
  })
  return { ...rest, ...(calls.length === 0 ? {} : { toolCalls: calls }) }
}

/** Pinned messages stand before the summary, and after it where a format can hold them no other way. */
const summaryFirst = (a: Told, b: Told): number => Number(isSummary(b)) - Number(isSummary(a))
const isSummary = (one: Told): boolean => one.kind === 'words' && one.role === 'summary'

const thoughts = (reasoning: unknown): readonly Told[] =>
  (Array.isArray(reasoning) ? (reasoning as readonly unknown[]) : [{ text: reasoning }]).flatMap((one) =>
    isObject(one) && typeof one.text === 'string' && one.text.trim() !== ''
      ? [{ kind: 'thought', text: one.text }]
      : [],
  )

const contentOf = (content: unknown, role: string, losses: ReadonlySet<string>): readonly Told[] => {
  const parts = Array.isArray(content)
    ? (content as readonly Json[])
    : [{ type: 'text', text: content ?? '' }]
  return parts.flatMap((part): Told[] => {
    const { type, text, data, url } = part
    if (type === 'text') return [{ kind: 'words', role, text: withoutPlaceholders(String(text), losses) }]
    const isMedia = type === 'image' || type === 'document' || type === 'audio'
    if (isMedia)
      return losses.has(type === 'image' ? 'images' : 'documents')
        ? []
        : [{ kind: 'media', type, of: String(data ?? url).replace(/^data:[^,]*,/, '') }]
    const of = JSON.stringify(part)
    return losses.has('other parts')
      ? [{ kind: 'words', role, text: of }]
      : [{ kind: 'media', type: 'part', of }]
  })
}

/** What a writer puts in the place of media that it cannot carry: a part of its own, or a paragraph among others. */
const withoutPlaceholders = (text: string, losses: ReadonlySet<string>): string =>
  losses.has('images') || losses.has('documents')
    ? text.replace(/^\[(image|document|audio)\b[^\]\n]*\]$/gm, '')
    : text

const bare = (text: string): string => text.replace(/\s+/g, '')

const joined = (told: readonly Told[]): readonly Told[] => {
  const found: Told[] = []
  for (const one of told) {
    const last = found.at(-1)
    const text = one.kind === 'words' || one.kind === 'thought' ? bare(one.text) : null
    if (text === '') continue
    if (text === null) found.push(one)
    else if (one.kind === 'words' && last?.kind === 'words' && last.role === one.role)
      found[found.length - 1] = { ...last, text: last.text + text }
    else if (one.kind === 'thought' && last?.kind === 'thought')
      found[found.length - 1] = { ...last, text: last.text + text }
    else found.push({ ...one, text } as Told)
  }
  return found
}
