import { basename, dirname, join } from 'node:path'
import { findFiles, firstRecords } from '../find.js'
import type { Format, Item } from '../format.js'
import { readJsonl } from '../jsonl.js'
import { isAbsolute } from '../members.js'
import { recordsIn } from '../records.js'
import { isObject } from '../remainder.js'
import { Remarks } from '../remarks.js'
import { frameOf, isUpdate, messageIn } from './frame.js'
import { Trace } from './trace.js'

/** Methods that no other protocol over JSON-RPC has. */
const isOurs = (value: unknown): boolean => {
  const message = messageIn(value)
  const method = message?.method
  const params = message?.params
  if (typeof method !== 'string' || !isObject(params)) return false
  if (method === 'initialize') return 'clientCapabilities' in params
  return isUpdate(method)
    ? typeof params.sessionId === 'string' && isObject(params.update)
    : /^session\/(new|load|resume|prompt|request_permission|cancel|fork)$/.test(method)
}

const detect = (_path: string, start: string): boolean => firstRecords(start).some(isOurs)

const isFrame = (value: unknown): boolean => messageIn(value) !== null

/** Grok keeps its updates in `sessions/<folder, as in a URL>/<session>/updates.jsonl`. */
const folderIn = (source: string): string | null => {
  if (basename(source) !== 'updates.jsonl') return null
  try {
    const folder = decodeURIComponent(basename(dirname(dirname(source))))
    return isAbsolute(folder) ? folder : null
  } catch {
    return null
  }
}

async function* read(source: string): AsyncGenerator<Item> {
  const remarks = new Remarks()
  const trace = new Trace(folderIn(source), remarks)
  try {
    const lines = readJsonl(source, { isRecord: isFrame })
    for await (const found of recordsIn(lines, { remarks, noun: 'frame' })) {
      const frame = found.kind === 'record' ? frameOf(found) : null
      if (found.kind === 'failed') yield found
      else if (frame !== null) yield* trace.take(frame)
      else yield { kind: 'failed', line: found.line, reason: 'holds no JSON-RPC message' }
    }
  } catch (error) {
    yield { kind: 'failed', line: null, reason: (error as Error).message }
  }
  yield* trace.end()
  yield* remarks.items()
}

/** Traces of the Agent Client Protocol: JSON-RPC frames, one a line, as a client, a proxy or an agent recorded them. */
export const acp: Format = {
  name: 'acp',
  title: 'ACP traces',
  folders: ({ home }) => [join(home, '.grok', 'sessions')],
  find: (path) => findFiles(path, detect),
  detect,
  beside: () => [],
  read,
}
