import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setFlagsFromString } from 'node:v8'
import { NotFound } from '../../events/errors/not-found.js'
import type { EventId } from '../../events/event.js'
import { htmlReport, type PageAssets } from '../../export/html/report.js'
import { markdownReport } from '../../export/markdown/report.js'
import { type Outline, outlineOf } from '../../export/model/outline.js'
import { plural } from '../../export/model/quantity.js'
import type { ReportAsk, ReportFacts, ReportSource } from '../../export/source.js'
import type { ReadView, SessionReader } from '../../session/api.js'
import type { Context } from '../context.js'
import { damageReport } from '../damage-report.js'
import { Usage } from '../errors/usage.js'
import type { Options } from '../options.js'
import { progress } from '../progress.js'
import { sessionSource } from './source.js'
import { sayWritten, targetOf, writeOut } from './target.js'

export type ReportFormat = 'html' | 'md'

/** A session as a page or as Markdown, for people to read. */
export const exportReport = async (
  context: Context,
  reader: SessionReader,
  format: ReportFormat,
  path: string | undefined,
  options: Options,
): Promise<number> => {
  setFlagsFromString(steadyHeap)
  if (options.flag('install')) throw new Usage('--install does not go with a report', '', 'leave it out')
  const { report, finish } = damageReport(context, reader)
  const view = { salvage: options.flag('salvage'), report }
  const isRedacted = options.flag('redact')
  const { events: total } = await reader.row()
  const drawn = progress(context, 'export')
  let done = 0
  const read = (events: number): void => {
    done += events
    drawn.at(done, total * passes[format])
  }
  const { source, counts, failures } = await sessionSource(reader, { view, isRedacted, read })
  const outline = await outlineOf(source, await askOf(reader, view, options))
  if (outline === null) throw new NotFound('event', '@', `session ${reader.id}`, 'it holds no event')
  const facts = await factsOf(context, reader, isRedacted)
  const target = targetOf(context, reader, path, format)
  const text =
    format === 'html' ? await htmlOf(context, outline, source, facts) : markdownReport(outline, source, facts)
  await writeOut(context, target, options.flag('force'), inBytes(text)).finally(() => drawn.end())
  await sayWritten(context, target, [...notesOf(outline, counts, isRedacted), ...failures])
  return finish()
}

/** A pass makes little that stays and much that does not: the heap is swept before it doubles. */
const steadyHeap = '--heap-growing-percent=40'

const passes = { html: 3, md: 2 } as const

const htmlOf = async (
  context: Context,
  outline: Outline,
  source: ReportSource,
  facts: ReportFacts,
): Promise<AsyncIterable<string>> => htmlReport(outline, source, facts, await assetsIn(context.packageFolder))

/** The page's script and styles, as the build bundled them. */
const assetsIn = async (folder: string): Promise<PageAssets> => {
  const [script, style] = await Promise.all(
    ['page.js', 'page.css'].map((name) => readFile(join(folder, 'dist/cli/report', name), 'utf8')),
  )
  return { script: script ?? '', style: style ?? '' }
}

const askOf = async (reader: SessionReader, view: ReadView, options: Options): Promise<ReportAsk> => {
  const named = async (option: string): Promise<EventId | null> => {
    const name = options.text(option)
    return name === undefined ? null : reader.resolve(name, view)
  }
  const ask = {
    branch: await named('branch'),
    from: await named('from'),
    to: await named('to'),
    all: options.flag('all'),
  }
  const leaf = ask.branch ?? (ask.from === null && ask.to === null ? null : await reader.head())
  if (leaf === null || (ask.from === null && ask.to === null)) return ask
  const path = (await idsTo(reader, leaf, view)) as readonly EventId[]
  const [from, to] = [ask.from, ask.to].map((id) => (id === null ? null : path.indexOf(id)))
  for (const [option, at] of [
    ['from', from],
    ['to', to],
  ] as const)
    if (at === -1)
      throw new Usage(
        `--${option} names no event of the branch`,
        options.text(option) ?? '',
        'see `coppice log SESSION --at EVENT`, or give --branch',
      )
  if (typeof from === 'number' && typeof to === 'number' && from > to)
    throw new Usage('--from comes after --to', '', 'give them in the order of the conversation')
  return ask
}

/** The path's events that are no notes, without holding more of them than their ids. */
const idsTo = async (reader: SessionReader, leaf: EventId, view: ReadView): Promise<readonly EventId[]> => {
  const ids: EventId[] = []
  for await (const lines of reader.backward({ ...view, at: leaf }))
    for (const { id, note } of lines) if (!note) ids.push(id)
  return ids.reverse()
}

const factsOf = async (
  context: Context,
  reader: SessionReader,
  isRedacted: boolean,
): Promise<ReportFacts> => {
  const manifest = JSON.parse(await readFile(join(context.packageFolder, 'package.json'), 'utf8')) as {
    readonly version: string
  }
  return {
    exportedAt: new Date(context.now()).toISOString(),
    version: manifest.version,
    workspace: reader.workspace,
    isRedacted,
  }
}

/** Text is handed on when there is some of it: a page is many small pieces. */
async function* inBytes(chunks: AsyncIterable<string>): AsyncGenerator<Uint8Array> {
  let text = ''
  for await (const chunk of chunks) {
    text += chunk
    if (text.length < 1 << 18) continue
    yield Buffer.from(text)
    text = ''
  }
  yield Buffer.from(text)
}

const notesOf = (
  { asides, hidden }: Outline,
  counts: ReadonlyMap<string, number>,
  isRedacted: boolean,
): readonly string[] => {
  const taken = [...counts].sort(([a], [b]) => (a < b ? -1 : 1))
  const total = taken.reduce((sum, [, count]) => sum + count, 0)
  const kinds = taken.map(([kind, count]) => `${count} ${kind}`).join(', ')
  const secrets = !isRedacted
    ? 'secrets were left in (--no-redact)'
    : total === 0
      ? 'no known shape of a secret was found'
      : `${plural(total, 'secret')} redacted (${kinds}); --no-redact leaves them in`
  return [
    secrets,
    ...(asides > 0 ? [`${plural(asides, 'line')} of /btw exchanges left out`] : []),
    ...(hidden > 0 ? [`${plural(hidden, 'hidden message')} left out; --all shows them`] : []),
    'look through it before you share it: only what looks like a known secret is taken out',
  ]
}
