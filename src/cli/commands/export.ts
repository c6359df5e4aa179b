import { resolve } from 'node:path'
import type { SessionReader } from '../../session/api.js'
import type { Context, Run } from '../context.js'
import { damageReport } from '../damage-report.js'
import { notYet, Usage } from '../errors/usage.js'
import { readerOf, short } from '../names.js'
import { writeNewFile } from '../new-file.js'
import type { Options } from '../options.js'
import { safeName } from '../safe-text.js'

const known = [
  'jsonl',
  'html',
  'md',
  'claude',
  'codex',
  'pi',
  'gemini',
  'opencode',
  'deepcode',
  'zettcode',
  'acp',
]

export const run: Run = async (context, [name = '', format = '', path], options) => {
  checkAsked(format, options)
  const reader = await readerOf(context, name)
  const { report, finish } = damageReport(context, reader)
  const lines = linesOf(reader, { salvage: options.flag('salvage'), report })
  if (path === '-') for await (const chunk of lines) await context.out.write(chunk)
  else await toFile(context, reader, path, options.flag('force'), lines)
  return finish()
}

const checkAsked = (format: string, options: Options): void => {
  if (!known.includes(format))
    throw new Usage(`no format ${format}`, '', `known are ${known.join(', ')}; this version has jsonl`)
  if (format !== 'jsonl') throw notYet(`export to ${format}`)
  for (const option of ['install', 'all', 'branch', 'from', 'to'])
    if (options.flag(option) || options.text(option) !== undefined)
      throw new Usage(`--${option} does not go with jsonl`, '', 'jsonl is the log as it stands')
}

const toFile = async (
  context: Context,
  reader: SessionReader,
  path: string | undefined,
  force: boolean,
  lines: AsyncIterable<Uint8Array>,
): Promise<void> => {
  const target =
    path === undefined
      ? resolve(context.workspace, `coppice-${short(reader.id)}.jsonl`)
      : resolve(context.cwd, path)
  await writeNewFile(target, force, lines)
  if (context.json) await context.out.json({ path: target, notes: [] })
  else await context.out.line(safeName(target))
}

/** The log as it stands, line by line as they proved themselves, in batches. */
async function* linesOf(
  reader: SessionReader,
  view: Parameters<SessionReader['log']['readForward']>[1],
): AsyncGenerator<Uint8Array> {
  const newline = Buffer.from('\n')
  for await (const lines of reader.log.readForward(reader.id, view))
    yield Buffer.concat(lines.flatMap(({ bytes }) => [bytes, newline]))
}
