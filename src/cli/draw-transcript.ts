import type { EventId } from '../events/event.js'
import type { Mark } from '../projections/marks.js'
import type { ShownMessage, Transcript } from '../projections/messages.js'
import type { Colours } from './context.js'
import { textOfContent } from './describe.js'
import { short } from './names.js'
import { safe, safeLine } from './safe-text.js'
import { clipped } from './width.js'

export interface TranscriptDrawing {
  readonly columns: number
  readonly colours: Colours
}

/** How many lines of a tool's result and of reasoning are shown; prompts and answers are shown whole. */
const mostLines = 20

/** A transcript as a person reads it: who said what, calls and results, and what happened in between. Pure; gives lines. */
export function* drawTranscript(
  { messages, marks }: Transcript,
  drawing: TranscriptDrawing,
): Generator<string> {
  const calls = new Map<string, string>()
  const marksBefore = grouped(marks)
  for (const message of messages) {
    for (const mark of marksBefore.get(message.id) ?? []) yield* drawMark(mark, drawing)
    for (const { id, name } of message.toolCalls ?? []) calls.set(id, name)
    yield* drawMessage(message, calls, drawing)
    yield ''
  }
  for (const mark of marksBefore.get(null) ?? []) yield* drawMark(mark, drawing)
}

const grouped = (marks: readonly Mark[]): Map<EventId | null, Mark[]> => {
  const groups = new Map<EventId | null, Mark[]>()
  for (const mark of marks) groups.set(mark.before, [...(groups.get(mark.before) ?? []), mark])
  return groups
}

function* drawMark(mark: Mark, { colours, columns }: TranscriptDrawing): Generator<string> {
  const text = `── ${clipped(safeLine(saidOf(mark)), columns - 12)} ──`
  yield (mark.type === 'compaction' ? colours.magenta : colours.dim)(text)
  yield ''
}

const saidOf = (mark: Mark): string => {
  if (mark.type === 'compaction') return `compacted: ${textOfContent(mark.summary)}`
  if (mark.type === 'head') return `${mark.reason}: the head went to ${short(String(mark.to))}`
  if (mark.type === 'branch') return `branch ${mark.name}`
  if (mark.type === 'edit') return `${short(String(mark.target))} was edited`
  return 'code was restored'
}

function* drawMessage(
  message: ShownMessage,
  calls: ReadonlyMap<string, string>,
  drawing: TranscriptDrawing,
): Generator<string> {
  const { colours } = drawing
  yield headLine(message, calls, colours)
  if (message.redacted === true) yield `  ${colours.dim('(redacted)')}`
  yield* indented(
    reasoningOf(message.reasoning),
    mostLines,
    (line) => colours.dim(colours.italic(line)),
    drawing,
  )
  const isResult = message.role === 'tool'
  const text = textOfContent(message.content)
  yield* indented(
    text,
    isResult ? mostLines : Number.POSITIVE_INFINITY,
    isResult ? colours.dim : String,
    drawing,
  )
  yield* indented(textOfContent(message.refusal), mostLines, colours.red, drawing)
  for (const { name, arguments: given } of message.toolCalls ?? []) {
    const call = `→ ${safeLine(name)} `
    yield `  ${colours.blue(call)}${clipped(safeLine(textOfContent(given)), drawing.columns - call.length - 2)}`
  }
}

const headLine = (message: ShownMessage, calls: ReadonlyMap<string, string>, colours: Colours): string => {
  const { role, model, at, id, compacted, aside } = message
  const tool = typeof message.toolCallId === 'string' ? calls.get(message.toolCallId) : undefined
  const failed = message.ok === false ? colours.red(' failed') : ''
  const about = [
    typeof model === 'string' ? safeLine(model) : '',
    at.slice(0, 19).replace('T', ' '),
    compacted ? 'compacted' : '',
    aside === true ? 'aside' : '',
  ].filter((part) => part !== '')
  const who = tool === undefined ? `${markOf(role)} ${safeLine(role)}` : `← ${safeLine(tool)}`
  return `${roleColour(role, colours)(who)}${failed}  ${colours.yellow(short(id))}  ${colours.dim(about.join(' · '))}`
}

const markOf = (role: string): string => (role === 'user' ? '●' : '○')

const roleColour = (role: string, colours: Colours): ((text: string) => string) => {
  if (role === 'user') return (text) => colours.bold(colours.cyan(text))
  if (role === 'assistant') return (text) => colours.bold(colours.green(text))
  return role === 'tool' ? colours.blue : colours.magenta
}

const reasoningOf = (reasoning: unknown): string =>
  Array.isArray(reasoning)
    ? reasoning.map((step) => textOfContent(step?.text)).join('\n')
    : textOfContent(reasoning)

function* indented(
  text: string,
  most: number,
  paint: (line: string) => string,
  { colours }: TranscriptDrawing,
): Generator<string> {
  if (text.trim() === '') return
  const lines = safe(text.trimEnd()).split('\n')
  for (const line of lines.slice(0, most)) yield `  ${line === '' ? '' : paint(line)}`.trimEnd()
  if (lines.length > most) yield colours.dim(`  … ${lines.length - most} more lines (--json has them)`)
}
