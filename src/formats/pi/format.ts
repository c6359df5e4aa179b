import { isAbsolute, join } from 'node:path'
import { findFiles, firstRecords } from '../find.js'
import type { Format, Item, Surroundings } from '../format.js'
import { readJsonl } from '../jsonl.js'
import { recordsIn } from '../records.js'
import { isObject } from '../remainder.js'
import { Remarks } from '../remarks.js'
import { Branches } from './branches.js'
import { entryOf, looksLikeEntry } from './entry.js'
import { piWriter } from './write.js'

const folders = ({ home, env }: Surroundings): readonly string[] => {
  const sessions = env.PI_CODING_AGENT_SESSION_DIR
  const agent = env.PI_CODING_AGENT_DIR
  const inHome = (path: string): string => (path.startsWith('~') ? join(home, path.slice(1)) : path)
  if (sessions) return [inHome(sessions)].filter(isAbsolute)
  return [agent ? join(inHome(agent), 'sessions') : join(home, '.pi', 'agent', 'sessions')]
}

/** Coppice's own logs begin with a `session` too, which has a `parent`: they are not taken over. */
const isHeader = (value: unknown): boolean =>
  isObject(value) &&
  value.type === 'session' &&
  !('parent' in value) &&
  typeof value.id === 'string' &&
  (typeof value.cwd === 'string' || typeof value.version === 'number')

/** An entry of versions 2 and 3, in a file that lost its header. */
const isTreeEntry = (value: unknown): boolean =>
  isObject(value) && 'parentId' in value && looksLikeEntry(value) && types.has(value.type as string)

const types = new Set([
  'message',
  'model_change',
  'thinking_level_change',
  'compaction',
  'branch_summary',
  'custom',
  'custom_message',
  'context_edit',
  'label',
  'session_info',
])

const detect = (_path: string, start: string): boolean =>
  firstRecords(start).some((value) => isHeader(value) || isTreeEntry(value))

async function* read(source: string): AsyncGenerator<Item> {
  const remarks = new Remarks()
  const branches = new Branches(source, remarks)
  try {
    const lines = readJsonl(source, { isRecord: looksLikeEntry })
    for await (const found of recordsIn(lines, { remarks, noun: 'entry' })) {
      if (found.kind === 'failed') yield found
      else yield* branches.take(entryOf(found))
    }
  } catch (error) {
    yield { kind: 'failed', line: null, reason: (error as Error).message }
  }
  yield* remarks.items()
}

/** Pi: `sessions/--<cwd>--/<time>_<session>.jsonl`, a tree by `parentId`; the leaf is the last entry. */
export const pi: Format = {
  name: 'pi',
  title: 'Pi',
  folders,
  find: (path) => findFiles(path, detect),
  detect,
  beside: () => [],
  read,
  writer: piWriter,
}
