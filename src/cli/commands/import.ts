import { readFileSync, watch } from 'node:fs'
import { stat } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import type { Format } from '../../formats/format.js'
import { type ImportReport, importSources, type Source } from '../../session/import.js'
import type { Context, Run } from '../context.js'
import { exit } from '../exit.js'
import { short } from '../names.js'
import { progress } from '../progress.js'
import { counted } from '../quantity.js'
import { safeName } from '../safe-text.js'
import { keepHeapSmall } from '../small-heap.js'
import { formatsOf, type Sought, sourcesAt } from '../sources.js'

export const run: Run = async (context, [name = '', ...paths], options) => {
  const wanted = formatsOf(name)
  const dryRun = options.flag('dryRun')
  const sought = await seek(context, wanted, paths)
  // Of before they are read: what is written meanwhile is a change.
  const known = new Map<string, string>()
  for (const source of sought.sources) known.set(source.path, await stampOf(source))
  const report = await importAll(context, sought, dryRun)
  await print(context, report, dryRun)
  if (options.flag('watch')) await follow(context, wanted, paths, known, dryRun)
  return report.failed.length > 0 ? exit.failed : exit.done
}

const seek = async (
  context: Context,
  wanted: readonly Format[],
  paths: readonly string[],
): Promise<Sought> => {
  const shown = progress(context, 'looking')
  try {
    return await sourcesAt(context, wanted, paths, (files) => shown.at(0, 0, counted(files, 'file')))
  } finally {
    shown.end()
  }
}

const importAll = async (
  context: Context,
  { sources, failed }: Sought,
  dryRun: boolean,
): Promise<ImportReport> => {
  const store = await context.store()
  keepHeapSmall()
  const shown = progress(context, 'importing')
  const report = await importSources(store, sources, {
    workspace: context.workspace,
    dryRun,
    reader: versionOf(context.packageFolder),
    progress: shown.at,
  })
  shown.end()
  return { ...report, failed: [...failed, ...report.failed] }
}

const versionOf = (folder: string): string => {
  const { version } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as { version: string }
  return version
}

const print = async (context: Context, report: ImportReport, dryRun: boolean): Promise<void> => {
  const { json, out, colours } = context
  if (json) return out.json(report)
  const formats = new Map(report.sources.map(({ source, format }) => [source, format]))
  for (const { source, session, events, new: added, notes } of report.imported) {
    const what = added === 0 ? colours.dim('nothing new') : colours.green(`${added} new`)
    await out.line(
      `${colours.yellow(short(session))}  ${what}, ${counted(events, 'event')}  ${colours.dim(`${formats.get(source) ?? ''} ${safeName(source)}`)}`,
    )
    for (const note of notes) await out.line(colours.dim(`          ${safeName(note)}`))
  }
  for (const { source, line, reason } of report.failed)
    await context.warn(`not imported: ${reason}: ${source}${line === null ? '' : `, line ${line}`}`)
  await out.line(summary(report, dryRun))
}

const summary = ({ imported, failed, sources }: ImportReport, dryRun: boolean): string => {
  const added = imported.reduce((sum, row) => sum + row.new, 0)
  const unchanged = sources.filter((source) => source.unchanged).length
  return [
    `${dryRun ? 'would import' : 'imported'} ${counted(imported.length, 'session')}, ${counted(added, 'new event')}`,
    `from ${counted(sources.length, 'file')}${unchanged > 0 ? ` (${unchanged} unchanged)` : ''}`,
    ...(failed.length > 0 ? [`${failed.length} not imported`] : []),
  ].join(', ')
}

/** How long a source must be quiet before it is read again (ms), and how often the folders are looked through anyway. */
const quietMs = 200
const everyMs = 5000

/** Takes over what is added to the paths, until it is interrupted. */
const follow = async (
  context: Context,
  wanted: readonly Format[],
  paths: readonly string[],
  known: Map<string, string>,
  dryRun: boolean,
): Promise<never> => {
  const wake = alarm(paths.map((path) => resolve(context.cwd, path)))
  for (;;) {
    await wake()
    const changed: Source[] = []
    const { sources } = await sourcesAt(context, wanted, paths).catch(() => ({ sources: [] }))
    for (const source of sources) {
      const stamp = await stampOf(source)
      if (known.get(source.path) !== stamp) changed.push(source)
      known.set(source.path, stamp)
    }
    if (changed.length > 0)
      await print(context, await importAll(context, { sources: changed, failed: [] }, dryRun), dryRun)
  }
}

const stampOf = async ({ path }: Source): Promise<string> => {
  const found = await stat(path).catch(() => undefined)
  return `${found?.ino} ${found?.size} ${found?.mtimeMs}`
}

/** Resolves when something changed and has been quiet since, or when it is time to look anyway. */
const alarm = (paths: readonly string[]): (() => Promise<void>) => {
  let ring = (): void => {}
  for (const path of paths) {
    try {
      watch(path, { recursive: true }, () => ring()).on('error', () => {})
    } catch {
      // Where the system cannot watch, looking now and then is enough.
    }
  }
  return () =>
    new Promise((done) => {
      let timer = setTimeout(done, everyMs)
      ring = () => {
        clearTimeout(timer)
        timer = setTimeout(done, quietMs)
      }
    })
}
