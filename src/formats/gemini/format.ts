import { isAbsolute, join } from 'node:path'
import { sha256 } from '../../events/id.js'
import { findFiles, firstRecords, startOf } from '../find.js'
import type { Format, Item, Surroundings } from '../format.js'
import { readDocument } from '../json-document.js'
import { endOfValue } from '../json-text.js'
import { type JsonRecord, readJsonl } from '../jsonl.js'
import { parsedJson, textIn } from '../members.js'
import { recordsIn } from '../records.js'
import { isObject, type Json } from '../remainder.js'
import { Remarks } from '../remarks.js'
import { Thread } from '../thread.js'
import { epoch } from '../time.js'
import { Chat } from './chat.js'
import { headOf, projectRoot } from './head.js'
import { looksLikeMessage, timeOf } from './message.js'

const folders = ({ home, env }: Surroundings): readonly string[] => {
  const root = env.GEMINI_CLI_HOME || home
  return isAbsolute(root) ? [join(root, '.gemini', 'tmp')] : []
}

const lists = new Set(['messages', 'history'])

const isMetadata = (value: unknown): boolean =>
  isObject(value) && typeof value.sessionId === 'string' && 'projectHash' in value && !('type' in value)

const isOperation = (value: unknown): boolean =>
  isObject(value) && (isObject(value.$set) || typeof value.$rewindTo === 'string')

/** A document's first 64 KiB seldom parse: its members are told by their names. */
const looksLikeDocument = (start: string): boolean =>
  /^\s*\{/.test(start) &&
  ((/"sessionId"\s*:/.test(start) && /"projectHash"\s*:/.test(start) && /"messages"\s*:\s*\[/.test(start)) ||
    (/"history"\s*:\s*\[\s*\{/.test(start) && /"parts"\s*:\s*\[/.test(start)))

const detect = (path: string, start: string): boolean =>
  path.endsWith('.jsonl')
    ? firstRecords(start).some((value) => isMetadata(value) || isOperation(value)) || looksLikeDocument(start)
    : looksLikeDocument(start)

/** A document is one object that lists its messages; a log is many. */
const isDocument = async (source: string): Promise<boolean> => {
  const start = await startOf(source)
  const end = start.trimStart().startsWith('{') ? endOfValue(start, start.indexOf('{')) : -1
  const first = end === -1 ? undefined : parsedJson(start.slice(start.indexOf('{'), end))
  if (isObject(first)) return [...lists].some((name) => Array.isArray(first[name]))
  const isPretty = /^\s*\{\s*\n/.test(start)
  return (isPretty || !firstRecords(start).some(isLine)) && looksLikeDocument(start)
}

async function* read(source: string): AsyncGenerator<Item> {
  const remarks = new Remarks()
  try {
    yield* (await isDocument(source)) ? readWhole(source, remarks) : readLines(source, remarks)
  } catch (error) {
    yield { kind: 'failed', line: null, reason: (error as Error).message }
  }
  yield* remarks.items()
}

/** A checkpoint: one object, which Gemini writes anew with each message. */
async function* readWhole(source: string, remarks: Remarks): AsyncGenerator<Item> {
  const { head, records, faults } = await readDocument(source, { lists, isRecord: isSalvaged })
  for (const { line, reason } of faults) yield { kind: 'failed', line, reason }
  if (records.length === 0 && Object.keys(head).length === 0) return
  const { session, at, item } = await headOf(source, head, true)
  const began = at ?? records.map(({ value }) => timeIn(value)).find((time) => time !== null) ?? epoch
  if (began === epoch) remarks.add(session, 'session names no time: set to 1970-01-01')
  yield item(began, 1)
  const chat = new Chat(new Thread(session, began, remarks))
  for (const record of records) yield* messageOf(chat, record)
  if (head.lastUpdated !== undefined)
    remarks.add(session, 'time of the last save (lastUpdated) is not carried: it changes with each')
  yield* chat.title(head.summary)
}

const isSalvaged = (value: unknown): boolean =>
  looksLikeMessage(value) && isObject(value) && ('id' in value || 'timestamp' in value)

const timeIn = (value: unknown): string | null => (isObject(value) ? timeOf(value) : null)

function* messageOf(chat: Chat, record: JsonRecord): Generator<Item> {
  if (isObject(record.value)) yield* chat.message(record)
  else yield { kind: 'failed', line: record.line, reason: 'not a message: should be a JSON object' }
}

/** A log: metadata, then messages and what is done to them. */
async function* readLines(source: string, remarks: Remarks): AsyncGenerator<Item> {
  let chat: Chat | null = null
  let first: string | null = null
  const lines = readJsonl(source, { isRecord: isLine })
  for await (const found of recordsIn(lines, { remarks, noun: 'record' })) {
    if (found.kind === 'failed') {
      yield found
      continue
    }
    const metadata = isMetadata(found.value) ? found.value : null
    if (chat === null) {
      const { session, at, item } = await headOf(source, metadata ?? {}, false)
      const began = at ?? timeOf(found.value) ?? epoch
      if (began === epoch) remarks.add(session, 'session names no time: set to 1970-01-01')
      if (metadata === null) remarks.add(session, 'file does not begin with its metadata')
      yield item(began, found.line)
      chat = new Chat(new Thread(session, began, remarks))
      first = metadata === null ? null : sha256(found.text)
      if (metadata !== null) {
        yield* chat.title(metadata.summary, found.line)
        continue
      }
    }
    yield* lineOf(chat, found, first)
  }
}

const isLine = (value: unknown): boolean => isMetadata(value) || isOperation(value) || isSalvaged(value)

function* lineOf(chat: Chat, record: JsonRecord, first: string | null): Generator<Item> {
  const { thread } = chat
  const value = record.value as Json
  const { line, raw } = record
  const hash = sha256(record.text)
  if (looksLikeMessage(value)) return yield* chat.message(record)
  if (isMetadata(value) && hash === first)
    return thread.say('metadata stands in the file again, unchanged: left out', line)
  const kind = isMetadata(value)
    ? 'metadata'
    : isObject(value.$set)
      ? '$set'
      : '$rewindTo' in value
        ? '$rewindTo'
        : 'record'
  const key = thread.unused(`${kind}#${hash.slice(0, 16)}`)
  const from = { line, raw }
  if (kind === '$rewindTo') yield* chat.rewind(textIn(value, '$rewindTo') ?? '', key, line)
  const set = kind === '$set' ? (value.$set as Json) : {}
  if (!Array.isArray(set.messages)) {
    yield chat.own(kind, value, key, from)
    return yield* chat.title(set.summary, line)
  }
  const records = set.messages.filter(isObject).map(
    (message): JsonRecord => ({
      kind: 'record',
      line,
      value: message,
      text: JSON.stringify(message),
    }),
  )
  yield* chat.replace(records, key, line)
  const ids = set.messages.map((message) => (isObject(message) ? (message.id ?? null) : message))
  yield chat.own(kind, { ...value, $set: { ...set, messages: ids } }, key, from)
  yield* chat.title(set.summary, line)
}

const isNamed = (name: string): boolean => name.endsWith('.json') || name.endsWith('.jsonl')

/** Gemini CLI: `tmp/<project>/chats/session-<time>-<id>.jsonl`, older ones one `.json` object each. */
export const gemini: Format = {
  name: 'gemini',
  title: 'Gemini CLI',
  folders,
  find: (path) => findFiles(path, detect, { isNamed }),
  finding: { isNamed },
  detect,
  beside: (source) => [projectRoot(source)],
  read,
}
