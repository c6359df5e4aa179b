import { basename, join } from 'node:path'
import { findFiles, firstRecords } from '../find.js'
import type { Format, Item } from '../format.js'
import { readJsonl } from '../jsonl.js'
import { recordsIn } from '../records.js'
import { isObject } from '../remainder.js'
import { Remarks } from '../remarks.js'
import { entryNotes } from './entry.js'
import { History } from './history.js'
import { indexed, indexOf } from './index-file.js'
import { deepcodeWriter } from './write.js'

const looksLikeMessage = (value: unknown): boolean =>
  isObject(value) &&
  typeof value.id === 'string' &&
  typeof value.sessionId === 'string' &&
  typeof value.role === 'string'

const detect = (_path: string, start: string): boolean =>
  firstRecords(start).some((value) => looksLikeMessage(value) && isObject(value) && 'messageParams' in value)

async function* read(source: string): AsyncGenerator<Item> {
  const remarks = new Remarks()
  const session = basename(source, '.jsonl')
  const index = await indexed(source, session, remarks)
  const history = new History(session, index, remarks)
  let prompt: string | null = null
  try {
    const lines = readJsonl(source, { isRecord: looksLikeMessage })
    for await (const found of recordsIn(lines, { remarks, session, noun: 'message' })) {
      if (found.kind === 'failed') yield found
      else {
        prompt ??= promptOf(found.value)
        yield* history.take(found)
      }
    }
  } catch (error) {
    yield { kind: 'failed', line: null, reason: (error as Error).message }
  }
  yield* history.end()
  if (index.entry !== null && history.tip !== null)
    yield* entryNotes(index.entry, prompt, { session, tip: history.tip, at: history.at })
  yield* remarks.items()
}

const promptOf = (value: unknown): string | null =>
  isObject(value) && value.role === 'user' ? (typeof value.content === 'string' ? value.content : '') : null

/** Deep Code: `projects/<code>/<session>.jsonl`, one message a line, beside an index that may be lost. */
export const deepcode: Format = {
  name: 'deepcode',
  title: 'Deep Code',
  folders: ({ home }) => [join(home, '.deepcode', 'projects')],
  find: (path) => findFiles(path, detect),
  detect,
  beside: (source) => [indexOf(source)],
  isCutByUndo: true,
  read,
  writer: deepcodeWriter,
}
