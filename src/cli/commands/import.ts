import { watch } from 'node:fs'
import { stat } from 'node:fs/promises'
import { resolve } from 'node:path'
import type { Format } from '../../formats/format.js'
import { type ImportReport, importSources, type Source } from '../../session/import.js'
import type { Context, Run } from '../context.js'
import { exit } from '../exit.js'
import { short } from '../names.js'
import { progress } from '../progress.js'
import { counted } from '../quantity.js'
import { safeName } from '../safe-text.js'
import { formatsOf, sourcesAt } from '../sources.js'

export const run: Run = async (context, [name = '', ...paths], options) => {
  const wanted = formatsOf(name)
  const dryRun = options.flag('dryRun')
  const sources = await sourcesOf(context, wanted, paths)
  const report = withEmpty(await importAll(context, sources, dryRun), sources, paths)
  await print(context, report, dryRun)
  if (options.flag('watch')) await follow(context, wanted, paths, sources, dryRun)
  return report.failed.length > 0 ? exit.failed : exit.done
}

const sourcesOf = async (
  context: Context,
  wanted: readonly Format[],
  paths: readonly string[],
): Promise<readonly Source[]> => {
  const sources = new Map<string, Source>()
  for (const path of paths)
    for (const source of await sourcesAt(context, wanted, path)) sources.set(source.path, source)
  return [...sources.values()]
}

const importAll = async (
  context: Context,
  sources: readonly Source[],
  dryRun: boolean,
): Promise<ImportReport> => {
  const store = await context.store()
  const shown = progress(context, 'importing')
  const report = await importSources(store, sources, {
    workspace: context.workspace,
    dryRun,
    progress: shown.at,
  })
  shown.end()
  return report
}

/** A path without a session is told as a failure: nobody asks for nothing. */
const withEmpty = (
  report: ImportReport,
  sources: readonly Source[],
  paths: readonly string[],
): ImportReport => {
  if (sources.length > 0) return report
  const reason = 'no sessions of a known format here'
  return { ...report, failed: paths.map((path) => ({ source: resolve(path), line: null, reason })) }
}

const print = async (context: Context, report: ImportReport, dryRun: boolean): Promise<void> => {
  const { json, out, colours } = context
  if (json) return out.json(report)
  for (const { source, session, events, new: added, notes } of report.imported) {
    const what = added === 0 ? colours.dim('nothing new') : colours.green(`${added} new`)
    await out.line(
      `${colours.yellow(short(session))}  ${what}, ${counted(events, 'event')}  ${colours.dim(safeName(source))}`,
    )
    for (const note of notes) await out.line(colours.dim(`          ${safeName(note)}`))
  }
  for (const { source, line, reason } of report.failed)
    await context.warn(`not imported: ${reason}: ${source}${line === null ? '' : `, line ${line}`}`)
  const added = report.imported.reduce((sum, row) => sum + row.new, 0)
  await out.line(
    `${dryRun ? 'would import' : 'imported'} ${counted(report.imported.length, 'session')}, ${counted(added, 'new event')}`,
  )
}

/** How long a source must be quiet before it is read again (ms), and how often the folders are looked through anyway. */
const quietMs = 200
const everyMs = 5000

/** Takes over what is added to the paths, until it is interrupted. */
const follow = async (
  context: Context,
  wanted: readonly Format[],
  paths: readonly string[],
  imported: readonly Source[],
  dryRun: boolean,
): Promise<never> => {
  const known = new Map<string, string>()
  for (const source of imported) known.set(source.path, await stampOf(source))
  const wake = alarm(paths.map((path) => resolve(context.cwd, path)))
  for (;;) {
    await wake()
    const changed: Source[] = []
    for (const source of await sourcesOf(context, wanted, paths)) {
      const stamp = await stampOf(source)
      if (known.get(source.path) !== stamp) changed.push(source)
      known.set(source.path, stamp)
    }
    if (changed.length > 0) await print(context, await importAll(context, changed, dryRun), dryRun)
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
