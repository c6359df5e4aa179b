import type { Event, EventId } from '../../events/event.js'
import { listOf, type Members, membersOf, numberOf, recordOf, stringOf } from '../../projections/members.js'
import { readUsage } from '../../projections/usage-tally.js'
import { visible } from '../visible.js'
import { contentPieces, json, payloadPiece } from './content.js'
import type { MarkEntry, Piece } from './entry.js'
import { plural, short, spent } from './quantity.js'

type Said = Partial<Omit<MarkEntry, 'kind' | 'id' | 'at' | 'words'>> & { readonly words: string }

/** An event that is no message: what happened, in a line, and what it holds. `event` is resolved and redacted. */
export const markEntry = (event: Event, callNames: ReadonlyMap<string, string>): MarkEntry => {
  const members = membersOf(event)
  const say = Object.hasOwn(sayings, event.type) ? sayings[event.type] : undefined
  const said: Said =
    event.redacted === true
      ? { words: `${event.type}: redacted`, tone: 'strong' }
      : (say?.(members, event, callNames) ?? { words: event.type, pieces: [payloadPiece(event)] })
  const { tone = 'quiet', words, target = null, pieces = [] } = said
  return { kind: 'mark', id: event.id, at: event.at, tone, words: visible(words), target, pieces }
}

type Saying = (members: Members, event: Event, callNames: ReadonlyMap<string, string>) => Said

const text = (value: unknown): string => stringOf(value) ?? ''
const after = (separator: string, value: unknown): string =>
  text(value) === '' ? '' : `${separator}${text(value)}`
/** An event's id; what is none is no reference. */
const reference = (value: unknown): EventId | null =>
  typeof value === 'string' && /^[0-9a-f]{32}$/.test(value) ? value : null

const sayings: Readonly<Record<string, Saying>> = {
  session: ({ workspace, cwd, agent, forkedFrom, startedBy }) => ({
    words: `Session begun${after(' in ', cwd ?? workspace)}${agentWords(agent)}${pointWords('forked from', forkedFrom)}${pointWords('started by', startedBy)}`,
    pieces: agent === undefined || agent === null || agentWords(agent) !== '' ? [] : [json(agent, 'agent')],
  }),
  compaction: (members) => ({
    tone: 'strong',
    words: compactionWords(members),
    target: reference(members.through),
    pieces: [
      ...contentPieces(members.summary, 'prose'),
      ...contentPieces(members.prompt, 'plain').map((piece) => labelled(piece, 'prompt of the compaction')),
    ],
  }),
  branch: ({ name, summary }) => ({
    tone: 'strong',
    words: `Branch ${text(name)} begins`,
    pieces: contentPieces(summary, 'prose'),
  }),
  head: ({ reason, from, to, restore }) => ({
    tone: 'strong',
    words: `${headWords[text(reason)] ?? `Head moved (${text(reason)})`}${restore === undefined ? '' : ', the code too'}`,
    target: reason === 'undo' || reason === 'redo' ? reference(from) : reference(to),
    pieces: filePieces(recordOf(restore)?.files),
  }),
  edit: ({ target, replacement }) => ({
    tone: 'strong',
    words: replacement === null ? 'Removed from the context' : 'Changed for the context',
    target: reference(target),
    pieces: contentPieces(replacement, 'plain'),
  }),
  checkpoint: ({ reason, failed, files, toolCallId }, _event, callNames) => ({
    tone: failed === undefined ? 'quiet' : 'bad',
    words:
      failed === undefined
        ? `Checkpoint of the code (${reasonWords(reason, toolCallId, callNames)})${countWords(files)}`
        : `No checkpoint of the code: ${text(failed)}`,
  }),
  restore: ({ checkpoint, files }) => ({
    tone: 'strong',
    words: `Code put back${countWords(files)}`,
    target: reference(checkpoint),
    pieces: filePieces(files),
  }),
  custom: ({ name, data, content }) => ({
    words: text(name),
    pieces: [
      ...contentPieces(content, 'plain'),
      ...(data === undefined || data === null ? [] : [json(data, 'data')]),
    ],
  }),
  title: ({ title, by }) => ({ words: `Titled “${text(title)}”${by === 'user' ? '' : ` (${text(by)})`}` }),
  status: ({ status, reason, asks }) => ({
    tone: status === 'failed' || status === 'permission_denied' ? 'bad' : 'quiet',
    words: `Status: ${text(status).replaceAll('_', ' ')}${after(': ', reason)}`,
    pieces: asks === undefined || asks === null ? [] : [json(asks, 'asks')],
  }),
  tool: ({ toolCallId, state, by }, { parent }, callNames) => ({
    tone: state === 'denied' ? 'bad' : 'quiet',
    words: `${callNames.get(text(toolCallId)) ?? text(toolCallId)}: ${stateWords(state, by)}`,
    target: parent,
  }),
  process: ({ pid, command, state, code, deadline }) => ({
    words: `Process ${numberOf(pid) ?? '?'} ${text(state)}${numberOf(code) === null ? '' : ` with code ${numberOf(code)}`}${after(', until ', deadline)}`,
    pieces: text(command) === '' ? [] : [{ kind: 'command', text: visible(text(command)), lang: 'bash' }],
  }),
  label: ({ target, label }) => ({
    words: label === null ? 'Label taken away' : `Label: ${text(label)}`,
    target: reference(target),
  }),
  request: (members) => ({
    words: `Request settings: ${text(members.model)}${after(' by ', members.provider)}`,
    pieces: requestPieces(members),
  }),
  usage: ({ for: what, model, usage }) => {
    const tokens = readUsage(usage)
    const cost = tokens === null ? '' : `: ${spent(tokens).join(', ')}`
    return { words: `Spent on ${text(what) || 'other work'}${after(' by ', model)}${cost}` }
  },
  recovered: ({ gaps, orphans }) => ({
    tone: 'bad',
    words: `Recovered from an unfinished write: ${plural(listOf(gaps).length, 'gap')}${listOf(orphans).length > 0 ? `, ${plural(listOf(orphans).length, 'event')} void` : ''}`,
  }),
  redaction: ({ ids, reason }) => ({
    words: `Redacted ${plural(listOf(ids).length, 'event')}${after(': ', reason)}`,
  }),
  repaired: ({ ids, reason }) => ({
    tone: 'bad',
    words: `Repaired: ${plural(listOf(ids).length, 'event')} lost${after(': ', reason)}`,
  }),
}

const headWords: Readonly<Record<string, string>> = {
  undo: 'Undone: went back to here',
  redo: 'Undo taken back',
  checkout: 'Went on from here',
  branch: 'Branched off here',
}

export const stateWords = (state: unknown, by: unknown): string => `${text(state)}${after(' by ', by)}`

const reasonWords = (reason: unknown, call: unknown, callNames: ReadonlyMap<string, string>): string => {
  const words = text(reason).replace('-', ' ')
  const tool = callNames.get(text(call))
  return tool === undefined ? words : `${words} ${tool}`
}

const countWords = (files: unknown): string =>
  Array.isArray(files) && files.length > 0 ? `: ${plural(files.length, 'file')}` : ''

const compactionWords = ({ tokensBefore, tokensAfter, trigger, model }: Members): string => {
  const [before, now] = [numberOf(tokensBefore), numberOf(tokensAfter)]
  const tokens =
    before === null ? '' : `: ${short(before)} tokens${now === null ? '' : ` became ${short(now)}`}`
  return `Compacted${tokens}${after(' by ', model)}${text(trigger) === '' ? '' : ` (${text(trigger)})`}`
}

/** An agent that says no more of itself than its name and version. */
const agentWords = (agent: unknown): string => {
  const members = recordOf(agent)
  const [name, version] = [stringOf(members?.name), stringOf(members?.version)]
  const isAll = members !== null && Object.keys(members).every((key) => key === 'name' || key === 'version')
  return name === null || !isAll ? '' : `, by ${name}${after(' ', version)}`
}

const pointWords = (what: string, point: unknown): string => {
  const session = stringOf(recordOf(point)?.session)
  return session === null ? '' : `, ${what} session ${session.slice(0, 8)}`
}

const labelled = (piece: Piece, label: string): Piece =>
  piece.kind === 'image' ? piece : { ...piece, label }

const filePieces = (files: unknown): readonly Piece[] => {
  const lines = listOf(files).flatMap((file) => {
    const path = stringOf(recordOf(file)?.path)
    return path === null ? [] : [`${text(recordOf(file)?.action)} ${path}`.trim()]
  })
  return lines.length === 0 ? [] : [{ kind: 'plain', text: visible(lines.join('\n')), label: 'files' }]
}

const requestPieces = ({ instructions, tools, params }: Members): readonly Piece[] => [
  ...contentPieces(instructions, 'plain').map((piece) => labelled(piece, 'instructions')),
  ...(params === undefined || params === null ? [] : [json(params, 'parameters')]),
  ...(tools === undefined || tools === null ? [] : [json(tools, `tools${countOf(tools)}`)]),
]

const countOf = (value: unknown): string => (Array.isArray(value) ? ` (${value.length})` : '')
