import { stat } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { Refused } from '../../events/errors/refused.js'
import { formatNamed } from '../../formats/registry.js'
import type { Loss, Writer, Written } from '../../formats/writer.js'
import { redactor } from '../../secrets.js'
import type { ReadView, SessionReader } from '../../session/api.js'
import type { Context } from '../context.js'
import { damageReport } from '../damage-report.js'
import { Usage } from '../errors/usage.js'
import { short } from '../names.js'
import { writeNewFile } from '../new-file.js'
import type { Options } from '../options.js'
import { counted } from '../quantity.js'
import { safeName } from '../safe-text.js'
import { installFiles } from './install.js'
import { outgoingOf } from './outgoing.js'
import { shellLine } from './shell-line.js'
import { bytesOf, mergedText } from './written.js'

/** Writes a session in another agent's form. Gives the exit code. */
export const exportAgent = async (
  context: Context,
  reader: SessionReader,
  format: string,
  path: string | undefined,
  options: Options,
): Promise<number | undefined> => {
  const found = formatNamed(format)
  const writer = found?.writer
  if (found === undefined || writer === undefined)
    throw new Usage(`sessions are not written as ${format}`, '', 'see `coppice help export`')
  checkAsked(path, options)
  const { report, finish } = damageReport(context, reader)
  const view: ReadView = { salvage: options.flag('salvage'), report }
  const secrets = options.flag('redact') ? await redactor() : null
  const branch = options.text('branch')
  const session = await outgoingOf(await context.store(), reader, {
    view,
    only: branch === undefined ? null : await reader.resolve(branch, view),
    clean: secrets === null ? null : (value) => secrets.redactValue(value),
  })
  if (!session.events.some(({ type }) => type === 'message'))
    throw new Refused('nothing was said in this session', reader.id, 'there is nothing to go on with')
  const written = await writer.write(session)
  const target = await place(context, reader, writer, { written, format, path, options, title: found.title })
  const notes = [...written.losses().map(noteOf), ...secretNotes(secrets?.counts)]
  await tell(context, {
    target,
    notes,
    resume: resumeOf(writer, written, reader.workspace),
    title: found.title,
  })
  return finish()
}

const checkAsked = (path: string | undefined, options: Options): void => {
  for (const option of ['all', 'from', 'to'])
    if (options.flag(option) || options.text(option) !== undefined)
      throw new Usage(`--${option} does not go with an agent's format`, '', 'it has --branch')
  if (options.flag('install') && path !== undefined)
    throw new Usage('--install and a path do not go together', path, 'leave one of them out')
}

interface Request {
  readonly written: Written
  readonly format: string
  readonly title: string
  readonly path: string | undefined
  readonly options: Options
}

/** Where it was put: `folder` is where its agent looks; `installed` whether it is there. */
interface Target {
  readonly path: string | null
  readonly folder: string
  readonly installed: boolean
}

const place = async (
  context: Context,
  reader: SessionReader,
  writer: Writer,
  request: Request,
): Promise<Target> => {
  const { written, path, options } = request
  const folder = writer.folder({ home: context.home, env: context.env }, reader.workspace)
  if (options.flag('install')) return { path: await install(request, folder), folder, installed: true }
  if (path === '-') await toStdout(context, written)
  return { path: path === '-' ? null : await toFiles(context, reader, request), folder, installed: false }
}

const install = async ({ written, title, format }: Request, folder: string): Promise<string> => {
  for (const { name, merge } of written.files)
    if (merge === undefined && (await isThere(join(folder, name))))
      throw new Refused(
        `${title} has this session already`,
        join(folder, name),
        `it is never written over: take a copy with \`coppice fork\`, and export that as ${format}`,
        true,
      )
  await installFiles(written, folder)
  return join(folder, written.files[0]?.name ?? '')
}

const isThere = async (path: string): Promise<boolean> => (await stat(path).catch(() => null)) !== null

const toStdout = async (context: Context, { files }: Written): Promise<void> => {
  const own = files.filter(({ merge }) => merge === undefined)
  const [first] = own
  if (first === undefined || own.length > 1)
    throw new Usage(
      `the session takes ${counted(own.length, 'file')} in that format`,
      '-',
      'name a folder, or leave the path out',
    )
  for await (const bytes of bytesOf(first)) await context.out.write(bytes)
}

/** One file as it is named; several in a folder of that name. */
const toFiles = async (
  context: Context,
  reader: SessionReader,
  { written, format, path, options }: Request,
): Promise<string> => {
  const { files } = written
  const [first] = files
  const isOne = files.length === 1 && first !== undefined
  const name = `coppice-${short(reader.id)}-${format}${isOne ? '.jsonl' : ''}`
  const target = resolve(context.workspace, path ?? name)
  const force = options.flag('force')
  if (isOne) await writeNewFile(target, force, bytesOf(first))
  else {
    if (!force && (await isThere(target)))
      throw new Usage('the folder exists', target, 'give another name, or --force')
    for (const file of files)
      await writeNewFile(
        join(target, file.name),
        force,
        file.merge === undefined ? bytesOf(file) : mergedText(file.merge, null),
      )
  }
  return target
}

const noteOf = ({ count, text }: Loss): string => `${count} × ${text}`

const secretNotes = (counts: ReadonlyMap<string, number> | undefined): readonly string[] => {
  const kinds = [...(counts ?? [])]
  const all = kinds.reduce((sum, [, count]) => sum + count, 0)
  if (all === 0) return []
  const each = kinds.map(([kind, count]) => `${count} ${kind}`).join(', ')
  return [`${counted(all, 'secret')} redacted (${each}); --no-redact leaves them in`]
}

const resumeOf = (writer: Writer, { session }: Written, workspace: string): string =>
  `cd ${shellLine([workspace])} && ${shellLine(writer.resume(session, workspace))}`

interface Told {
  readonly target: Target
  readonly notes: readonly string[]
  readonly resume: string
  readonly title: string
}

const tell = async (context: Context, { target, notes, resume, title }: Told): Promise<void> => {
  const { json, out, colours } = context
  const { path, folder, installed } = target
  if (path === null) {
    for (const note of notes) await context.warn(note)
    return
  }
  if (json) return out.json({ path, notes, resume, folder, installed })
  await out.line(safeName(path))
  for (const note of notes) await out.line(colours.dim(`  ${safeName(note)}`))
  await out.line(
    installed
      ? `resume it in ${title}: ${resume}`
      : `${title} looks in ${safeName(folder)} (--install puts it there); then: ${resume}`,
  )
}
