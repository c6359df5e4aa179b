import { isBlobRef } from '../../events/content.js'
import type { ContextMessage } from '../../projections/context.js'
import type { Outline } from '../model/outline.js'
import { dateTime, plural, short } from '../model/quantity.js'
import { visible } from '../visible.js'
import { escaped, shown } from './escape.js'

/** Providers count tokens each in their own way; four bytes each is what English text and code come to. */
const bytesPerToken = 4
/** Messages in one chunk of the list. */
const inGroup = 60

/** What the model gets at the end of the branch: every message in order, each a pointer to the event that it is. */
export function* contextPanel(outline: Outline, excerpts: ReadonlyMap<string, string>): Generator<string> {
  const rows = outline.context.map((message) => ({
    message,
    tokens: tokensOf(message),
    kind: kindOf(message),
  }))
  const total = rows.reduce((sum, { tokens }) => sum + tokens, 0)
  yield `<section class="turn" id="context" aria-labelledby="hc"><header class="th2"><h2 id="hc">${outline.isHead ? 'Current context' : 'Context at the end'}${branchWords(outline)}</h2><p class="fa">${plural(rows.length, 'message')} · about ${short(total)} tokens</p></header>`
  yield `<p class="in0">${intro(outline)}</p>`
  yield division(rows, total)
  for (let at = 0; at < rows.length; at += inGroup) {
    const list = rows
      .slice(at, at + inGroup)
      .map((each) => row(outline, each.message, each.kind, each.tokens, excerpts))
    yield `<ol class="cl c" start="${at + 1}">${at === 0 ? list.join('') : `<noscript>${list.join('')}</noscript>`}</ol>`
  }
  yield '</section>\n'
}

/** Which branch's, where there are several. */
const branchWords = ({ segments, tree, leaf }: Outline): string => {
  const name = tree.branches.find((branch) => branch.leaf === leaf)?.name ?? segments.list[0]?.name ?? ''
  return segments.list.length > 1 ? ` <small>of the branch ${shown(visible(name))}</small>` : ''
}

const intro = ({ compaction, row, isHead }: Outline): string => {
  const counted =
    isHead && row.activeTokens > 0
      ? ` The provider counted ${short(row.activeTokens)} tokens at the last answer.`
      : ''
  if (compaction === null)
    return `What the model ${isHead ? 'holds now' : 'got here'}, in order. Nothing was compacted.${counted}`
  const { id, covers, through, kept, tokensBefore, tokensAfter } = compaction
  const size =
    tokensBefore === null
      ? ''
      : `, ${short(tokensBefore)} tokens${tokensAfter === null ? '' : ` became ${short(tokensAfter)}`}`
  const until =
    through === null ? '' : ` through <a href="#${escaped(through)}">${escaped(through.slice(0, 8))}</a>`
  const stays = kept.length === 0 ? '' : `; ${plural(kept.length, 'message')} stayed all the same`
  return `What the model ${isHead ? 'holds now' : 'got here'}, in order. It begins with the summary of the <a href="#${id}">compaction of ${dateTime(compaction.at)}</a>, which covers ${plural(covers, 'message')}${until}${size}${stays}.${counted}`
}

type Kind = 'System' | 'Summary' | 'User' | 'Assistant' | 'Tool results'

const kindOf = ({ role, summary }: ContextMessage): Kind => {
  if (summary === true) return 'Summary'
  if (role === 'system') return 'System'
  return role === 'user' ? 'User' : role === 'assistant' ? 'Assistant' : 'Tool results'
}

const kinds: readonly Kind[] = ['System', 'Summary', 'User', 'Assistant', 'Tool results']

/** How the tokens divide: a bar and its legend. */
const division = (
  rows: readonly { readonly kind: Kind; readonly tokens: number }[],
  total: number,
): string => {
  if (total === 0) return ''
  let x = 0
  const parts = kinds.map((kind, at) => {
    const tokens = rows.reduce((sum, row) => sum + (row.kind === kind ? row.tokens : 0), 0)
    const width = (tokens / total) * 100
    const bar =
      tokens === 0
        ? ''
        : `<rect class="k${at}" x="${x.toFixed(2)}%" width="${width.toFixed(2)}%" height="10"/>`
    x += width
    const words =
      tokens === 0
        ? ''
        : `<li class="k${at}">${kind} <b>${short(tokens)}</b> <small>${width < 1 ? '<1' : Math.round(width)}%</small></li>`
    return { bar, words: words.replace('<1%', '&lt;1%') }
  })
  return `<svg class="bar" width="100%" height="10" aria-hidden="true">${parts.map(({ bar }) => bar).join('')}</svg><ul class="lg">${parts.map(({ words }) => words).join('')}</ul>`
}

const row = (
  outline: Outline,
  message: ContextMessage,
  kind: Kind,
  tokens: number,
  excerpts: ReadonlyMap<string, string>,
): string => {
  const who =
    kind === 'Tool results'
      ? `Result of ${outline.callNames.get(message.toolCallId ?? '') ?? 'a tool'}`
      : kind
  const head = `<b>${shown(visible(who))}</b> <small>${short(tokens)} tokens</small>`
  if (message.synthetic !== undefined)
    return `<li>${head} <span>No result: ${message.synthetic}. The model is told so.</span></li>`
  const [edit] = message.ids.flatMap((id) => outline.editedBy.get(id) ?? [])
  const id =
    edit ?? message.ids.find((each) => excerpts.get(each)) ?? message.ids.find((each) => excerpts.has(each))
  const where = id ?? message.ids.find((each) => outline.turnOf.has(each))
  if (where === undefined || !(outline.turnOf.has(where) || excerpts.has(where)))
    return `<li>${head} <span class="no">${leftOut(outline)}</span></li>`
  const calls = message.toolCalls ?? []
  const words =
    excerpts.get(where) || (calls.length > 0 ? `calls ${calls.map(({ name }) => name).join(', ')}` : '')
  const changed = edit === undefined ? '' : ' (changed)'
  const others = message.ids.filter((each) => each !== where && outline.turnOf.has(each))
  const ids = edit === undefined ? [where, ...others] : [edit]
  const links = ids.map((each) => `<a href="#${each}">${each.slice(0, 8)}</a>`).join(' ')
  return `<li><details class="xd"><summary>${head} <span>${shown(visible(words))}</span></summary><p class="rp">Event ${links}${changed}</p></details></li>`
}

const leftOut = ({ isPart }: Outline): string =>
  isPart ? 'Not in this part of the session.' : 'Hidden, and left out of this report (`--all` has it).'

const tokensOf = ({ content, toolCalls = [], reasoning, refusal }: ContextMessage): number =>
  Math.ceil(
    (sizeOf(content) +
      sizeOf(reasoning) +
      sizeOf(refusal) +
      toolCalls.reduce((sum, call) => sum + sizeOf(call.name) + sizeOf(call.arguments), 0)) /
      bytesPerToken,
  )

/** Bytes of text; an image counts as what most providers charge for one. */
const sizeOf = (value: unknown): number => {
  if (typeof value === 'string') return Buffer.byteLength(value)
  if (typeof value !== 'object' || value === null) return 0
  if (isBlobRef(value)) return value.as === 'base64' ? 4000 : value.bytes
  if (Array.isArray(value)) return value.reduce((sum: number, item) => sum + sizeOf(item), 0)
  const { type, text } = value as { readonly type?: unknown; readonly text?: unknown }
  return type === undefined || type === 'text' ? sizeOf(text) : type === 'image' ? 4000 : 0
}
