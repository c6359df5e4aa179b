import { readdir } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { findFiles, firstRecords } from '../find.js'
import type { Format, Item, Surroundings } from '../format.js'
import { readJsonl } from '../jsonl.js'
import { recordsIn } from '../records.js'
import { isObject } from '../remainder.js'
import { Remarks } from '../remarks.js'
import { callOf } from './caller.js'
import { claudeRecord, looksLikeRecord } from './records.js'
import { namedBy } from './sessions.js'
import { SideReader, sidePaths } from './side-files.js'
import { Transcript } from './transcript.js'
import { claudeWriter } from './write.js'

const folders = ({ home, env }: Surroundings): readonly string[] => {
  const config = env.CLAUDE_CONFIG_DIR
  return config
    ? [join(config, 'projects')]
    : [join(home, '.claude', 'projects'), join(home, '.config', 'claude', 'projects')]
}

const types = new Set([
  'user',
  'assistant',
  'system',
  'attachment',
  'progress',
  'summary',
  'file-history-snapshot',
  'queue-operation',
  'custom-title',
  'ai-title',
  'last-prompt',
  'mode',
  'permission-mode',
])

const detect = (_path: string, start: string): boolean => firstRecords(start).some(isLine)

/** Gemini's messages may carry a `sessionId` too, but their words stand in the line itself. */
const isLine = (value: unknown): boolean => {
  if (!looksLikeRecord(value) || !isObject(value)) return false
  const { type, uuid, message } = value
  const isSpeech = type === 'user' || type === 'assistant'
  return types.has(type as string) && (!isSpeech || typeof uuid === 'string' || isObject(message))
}

async function* read(source: string): AsyncGenerator<Item> {
  const remarks = new Remarks()
  const named = namedBy(source)
  const transcript = new Transcript(named, remarks)
  const caller = named.parent === null ? null : await callOf(source, named.parent)
  if (caller !== null) transcript.calledBy(caller.prompt, caller.call)
  const side = new SideReader(source, (text) => remarks.add(transcript.sessions[0] ?? null, text))
  try {
    const lines = readJsonl(source, { isRecord: looksLikeRecord })
    for await (const found of recordsIn(lines, { remarks, noun: 'record' })) {
      const record = found.kind === 'record' ? claudeRecord(found) : null
      if (record !== null) yield* transcript.take({ ...record, files: await side.of(record) })
      else if (found.kind === 'failed') yield found
    }
  } catch (error) {
    yield { kind: 'failed', line: null, reason: (error as Error).message }
  }
  transcript.end()
  await remarkUnnamed(source, side, transcript.sessions[0] ?? null, remarks)
  yield* remarks.items()
}

/** Its side files, and of a sub-agent the transcript of the one that started it. */
const beside = (source: string): readonly string[] => {
  const started = namedBy(source).parent === null ? [] : [`${dirname(dirname(source))}.jsonl`]
  return [...started, ...sidePaths(source)]
}

/** Large outputs that no line of the transcript names. */
const remarkUnnamed = async (
  source: string,
  side: SideReader,
  session: string | null,
  remarks: Remarks,
): Promise<void> => {
  const names = await readdir(join(source.replace(/\.jsonl$/, ''), 'tool-results')).catch(() => [])
  for (const name of names)
    if (!side.has(name))
      remarks.add(session, 'file in tool-results that no line of the transcript names is not carried')
}

/** Claude Code: `projects/<slug>/<session>.jsonl`, sub-agents in `<session>/subagents/`. */
export const claude: Format = {
  name: 'claude',
  title: 'Claude Code',
  folders,
  find: (path) => findFiles(path, detect),
  detect,
  beside,
  read,
  writer: claudeWriter,
}
