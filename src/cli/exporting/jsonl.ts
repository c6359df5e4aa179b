import type { SessionReader } from '../../session/api.js'
import type { Context } from '../context.js'
import { damageReport } from '../damage-report.js'
import { Usage } from '../errors/usage.js'
import type { Options } from '../options.js'
import { sayWritten, targetOf, writeOut } from './target.js'

const others = ['install', 'all', 'branch', 'from', 'to'] as const

/** The log as it stands, line by line as they proved themselves. */
export const exportLog = async (
  context: Context,
  reader: SessionReader,
  path: string | undefined,
  options: Options,
): Promise<number> => {
  for (const option of others)
    if (options.flag(option) || options.text(option) !== undefined)
      throw new Usage(`--${option} does not go with jsonl`, '', 'jsonl is the log as it stands')
  const { report, finish } = damageReport(context, reader)
  const target = targetOf(context, reader, path, 'jsonl')
  const lines = linesOf(reader, { salvage: options.flag('salvage'), report })
  await writeOut(context, target, options.flag('force'), lines)
  await sayWritten(context, target, [])
  return finish()
}

async function* linesOf(
  reader: SessionReader,
  view: Parameters<SessionReader['log']['readForward']>[1],
): AsyncGenerator<Uint8Array> {
  const newline = Buffer.from('\n')
  for await (const lines of reader.log.readForward(reader.id, view))
    yield Buffer.concat(lines.flatMap(({ bytes }) => [bytes, newline]))
}
