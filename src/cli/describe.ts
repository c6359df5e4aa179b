import { isBlobRef } from '../events/content.js'
import type { Event } from '../events/event.js'
import { short } from './names.js'
import { bytes } from './quantity.js'
import { safeLine } from './safe-text.js'

/** What was said, as one text: parts joined, media and large values named in brackets. Not yet safe to print. */
export const textOfContent = (content: unknown): string => {
  if (typeof content === 'string') return content
  if (isBlobRef(content)) return `[${content.media ?? content.as}, ${bytes(content.bytes)}]`
  if (Array.isArray(content))
    return content
      .map(textOfPart)
      .filter((text) => text !== '')
      .join('\n')
  return content === null || content === undefined ? '' : JSON.stringify(content)
}

const textOfPart = (part: unknown): string => {
  const { type, text, alt } = (part ?? {}) as { type?: unknown; text?: unknown; alt?: unknown }
  if (type === 'text') return textOfContent(text)
  return typeof alt === 'string' ? `[${type}: ${alt}]` : `[${type}]`
}

type Describe = (event: Event) => string

/** More than any terminal shows of one line. */
const mostChars = 2000

/** One line about an event, safe to print; total over events of any shape. */
export const describe: Describe = (event) => {
  if (event.redacted === true) return `${event.type} (redacted)`
  const own = Object.hasOwn(descriptions, event.type) ? descriptions[event.type] : undefined
  return safeLine((own === undefined ? payloadOf(event) : own(event)).slice(0, mostChars))
}

const messageText: Describe = (event) => {
  const { role, content, toolCalls, toolCallId, ok } = event
  const text = textOfContent(content)
  if (role === 'tool') return `${ok === false ? 'failed' : 'result'} of ${toolCallId}: ${text}`
  const names = Array.isArray(toolCalls) ? toolCalls.map((call) => String(call?.name)) : []
  const calls = names.length === 0 ? '' : `→ ${names.join(', ')}`
  return [text, calls].filter((part) => part !== '').join(' ') || '(empty)'
}

const descriptions: Readonly<Record<string, Describe>> = {
  session: ({ workspace }) => `session in ${workspace ?? 'no workspace'}`,
  message: messageText,
  compaction: ({ summary, through }) => `covers through ${shortOf(through)}: ${textOfContent(summary)}`,
  branch: ({ name }) => `branch ${name}`,
  head: ({ reason, to }) => `${reason} to ${shortOf(to)}`,
  edit: ({ target, replacement }) =>
    replacement === null
      ? `removes ${shortOf(target)}`
      : `${shortOf(target)} becomes: ${textOfContent(replacement)}`,
  checkpoint: ({ reason, failed }) =>
    `checkpoint (${reason})${failed === undefined ? '' : `: failed: ${failed}`}`,
  restore: ({ checkpoint }) => `code of ${shortOf(checkpoint)} was put back`,
  custom: ({ name, content, data }) => `${name}: ${textOfContent(content ?? data)}`,
  title: ({ title, by }) => `title by ${by}: ${title}`,
  status: ({ status, reason }) => `${status}${reason ? `: ${reason}` : ''}`,
  tool: ({ toolCallId, state }) => `${toolCallId} ${state}`,
  process: ({ pid, state, command }) => `process ${pid} ${state}: ${command}`,
  label: ({ target, label }) =>
    label === null ? `${shortOf(target)} loses its label` : `${shortOf(target)} is ${label}`,
  request: ({ model }) => `request to ${model}`,
  usage: ({ for: what, model }) => `usage of ${what}${model === undefined ? '' : ` (${model})`}`,
  recovered: ({ gaps }) => `names ${Array.isArray(gaps) ? gaps.length : 0} gaps of unfinished writes`,
  redaction: ({ ids, reason }) => `redacted ${Array.isArray(ids) ? ids.length : 0} events: ${reason}`,
  repaired: ({ ids, reason }) => `repaired, ${Array.isArray(ids) ? ids.length : 0} events lost: ${reason}`,
}

const shortOf = (id: unknown): string => (typeof id === 'string' ? short(id) : '?')

const payloadOf: Describe = ({ id: _id, parent: _parent, at: _at, type: _type, note: _note, ...payload }) =>
  JSON.stringify(payload)
