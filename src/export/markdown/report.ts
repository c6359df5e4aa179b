import { totalsOf } from '../../projections/usage-tally.js'
import type { CallView, Entry, MarkEntry, SaidEntry } from '../model/entry.js'
import type { Outline } from '../model/outline.js'
import { dateTime, duration, plural, short, spent, time } from '../model/quantity.js'
import { Reading } from '../model/stream.js'
import { factsOf } from '../model/turn-facts.js'
import type { Turn } from '../model/turns.js'
import type { FileChange, ReportFacts, ReportSource } from '../source.js'
import { visible } from '../visible.js'
import { fenced, words } from './neutral.js'
import { details, pieces } from './pieces.js'

/** One branch as GitHub-flavoured Markdown, in the order of the page, a piece at a time. */
export async function* markdownReport(
  outline: Outline,
  source: ReportSource,
  facts: ReportFacts,
): AsyncGenerator<string> {
  const reading = new Reading(source, outline)
  yield about(outline, facts)
  for await (const item of reading.items((segment) => segment === 0)) {
    if (item.kind === 'turn') yield turn(item.turn)
    else if (item.kind === 'entry') yield entry(item.entry)
    else if (item.kind === 'changes') yield changes(item.files)
  }
  yield context(outline)
}

const about = (outline: Outline, facts: ReportFacts): string => {
  const { row, title, leaf, isPart, segments, asides, hidden } = outline
  const used = row.usage.requests > 0 ? [`Used: ${spent(row.usage.total).join(' · ')}`] : []
  const branch =
    segments.list.length > 1 && row.usage.requests > 0
      ? [`Of it on this branch: ${spent(totalsOf(outline.spent).total).join(' · ')}`]
      : []
  const left = [
    asides > 0 ? `${plural(asides, 'line')} said aside` : '',
    hidden > 0 ? plural(hidden, 'hidden message') : '',
  ].filter((part) => part !== '')
  const lines = [
    `Session: \`${row.session}\``,
    `Workspace: ${words(visible(facts.workspace || row.workspace || 'none'))}`,
    `Time: ${dateTime(row.createdAt)} to ${dateTime(row.updatedAt)} UTC`,
    `Holds: ${plural(row.events, 'event')}${segments.list.length > 1 ? `, ${plural(segments.list.length, 'branch', 'branches')}, one of them here` : ''}`,
    ...used,
    ...branch,
    `Head: \`${leaf}\``,
    `Exported: ${dateTime(facts.exportedAt)} UTC by Coppice ${facts.version}`,
  ]
  const notice = [
    `A snapshot of ${isPart ? 'a part of a session' : 'a session'}, for reading: it cannot be imported.`,
    facts.isRedacted ? 'Known shapes of secrets were taken out.' : 'Secrets were left in.',
    ...(left.length > 0 ? [`Left out: ${left.join(' and ')}.`] : []),
  ].join(' ')
  return `# ${words(title)}\n\n${lines.map((line) => `- ${line}\n`).join('')}\n${notice}\n\n`
}

const turn = (of: Turn): string => {
  const facts = [
    time(of.startedAt),
    ...factsOf(of),
    ...(of.files.size > 0 ? [plural(of.files.size, 'file')] : []),
  ]
  return `## ${of.number > 0 ? `${of.number}. ` : ''}${words(of.title)}\n\n*${facts.join(' · ')}*\n\n`
}

const entry = (item: Entry): string => (item.kind === 'said' ? said(item) : mark(item))

const said = ({ id, at, heading, facts, continues, pieces: list, calls }: SaidEntry): string => {
  const about = [time(at), `\`${id.slice(0, 8)}\``, ...facts.map(words)].join(' · ')
  const head = continues ? '' : `### ${words(heading)}\n\n*${about}*\n\n`
  return `${head}${pieces(list)}${calls.map(call).join('')}`
}

const call = ({ name, about, pieces: given, raw, states, result, elsewhere }: CallView): string => {
  const decisions = states.filter((state) => state !== 'started')
  const permission = decisions.length === 0 ? '' : `*Permission: ${words(decisions.join(', '))}*\n\n`
  const isRawWorth = raw !== null && given.length === 0 && about === ''
  const shown = isRawWorth ? `${fenced(raw, 'json')}\n\n` : pieces(given)
  const head = `**${words(name)}**${about === '' ? '' : ` ${words(about)}`}\n\n`
  if (result === null)
    return `${head}${shown}${permission}*${elsewhere === null ? 'No result' : `Its result came later: ${elsewhere.slice(0, 8)}`}*\n\n`
  const told = [
    result.ok === false ? 'Failed' : 'Result',
    ...(result.durationMs === null ? [] : [duration(result.durationMs)]),
  ]
  const empty = result.pieces.length === 0 ? 'nothing\n\n' : ''
  return `${head}${shown}${permission}*${told.join(' · ')}*\n\n${empty}${pieces(result.pieces)}`
}

const mark = ({ id, at, tone, words: text, target, pieces: list }: MarkEntry): string => {
  const link = target === null ? '' : ` ${target.slice(0, 8)}`
  const line = tone === 'strong' ? `**${words(text)}**${link}` : `*${words(text)}${link}*`
  return `${line} · ${time(at)} · \`${id.slice(0, 8)}\`\n\n${pieces(list)}`
}

const changes = (files: readonly FileChange[]): string =>
  `**Code changes**\n\n${files
    .map(({ path, status, added, removed, text }) =>
      details(`${path} (${status}, +${added} −${removed})`, fenced(text.replace(/\n$/, ''), 'diff')),
    )
    .join('\n\n')}\n\n`

const context = ({ compaction, isHead, context: messages, row }: Outline): string => {
  const head = `## ${isHead ? 'Current context' : 'Context at the end'}\n\n`
  const counted =
    isHead && row.activeTokens > 0
      ? ` The provider counted ${short(row.activeTokens)} tokens at the last answer.`
      : ''
  const whole = `${plural(messages.length, 'message')}.${counted}`
  if (compaction === null) return `${head}${whole} Nothing was compacted.\n`
  const through = compaction.through === null ? '' : ` through \`${compaction.through.slice(0, 8)}\``
  return `${head}${whole} It begins with the summary of the compaction \`${compaction.id.slice(0, 8)}\`, which covers ${plural(compaction.covers, 'message')}${through}.\n`
}
