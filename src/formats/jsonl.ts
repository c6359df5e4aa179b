import { isUtf8 } from 'node:buffer'
import { createReadStream } from 'node:fs'
import type { JsonFault, JsonRecord } from './json-record.js'
import { endOfValue, inspect, maxDepth } from './json-text.js'
import { maxSourceLine, type RawLine, splitLines } from './lines.js'
import { Spread } from './spread.js'

export type { JsonFault, JsonRecord }

export interface JsonlOptions {
  /** Whether a value found between damaged bytes is a record, not a piece of one. */
  readonly isRecord: (value: unknown) => boolean
  readonly maxLine?: number
}

/** Reads a JSONL file record by record; damage stays where it is and is told with its line (INV-4). */
export const readJsonl = (path: string, options: JsonlOptions): AsyncGenerator<JsonRecord | JsonFault> =>
  parseJsonl(createReadStream(path, { highWaterMark: 256 * 1024 }), options)

export async function* parseJsonl(
  chunks: AsyncIterable<Buffer>,
  options: JsonlOptions,
): AsyncGenerator<JsonRecord | JsonFault> {
  const spread = new Spread({
    alone: (raw) => [...readLine(raw, options)],
    isRecord: options.isRecord,
    parse: (text, line) => {
      const found = parse(text, line)
      return found?.kind === 'record' ? found : null
    },
  })
  for await (const raw of splitLines(chunks, options.maxLine ?? maxSourceLine)) yield* spread.take(raw)
  yield* spread.end()
}

function* readLine(source: RawLine, options: JsonlOptions): Generator<JsonRecord | JsonFault> {
  const { line, dropped } = source
  if (dropped > 0) return yield fault(line, `the line is too long to read (${dropped} bytes)`)
  const bytes = line === 1 ? withoutMark(source.bytes) : source.bytes
  const isValid = isUtf8(bytes)
  const text = bytes.toString()
  if (text.includes('\0')) {
    yield fault(line, `${text.split('\0').length - 1} NUL bytes, as a power cut leaves them`)
  }
  for (const piece of text.split('\0')) {
    if (piece.trim() === '') continue
    const found = [...readText(piece.trim(), source, options)]
    yield* isValid ? found : found.map((item) => (item.kind === 'record' ? withBytes(item, bytes) : item))
  }
}

const withoutMark = (bytes: Buffer): Buffer =>
  bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf ? bytes.subarray(3) : bytes

const withBytes = (record: JsonRecord, bytes: Buffer): JsonRecord => ({
  ...record,
  raw: `base64:${bytes.toString('base64')}`,
  fault: 'is no valid UTF-8: its bad bytes read as U+FFFD',
})

const fault = (line: number, reason: string): JsonFault => ({ kind: 'fault', line, reason })

function* readText(text: string, source: RawLine, options: JsonlOptions): Generator<JsonRecord | JsonFault> {
  const whole = parse(text, source.line)
  if (whole !== null) return yield whole
  const pieces = [...salvage(text, source.line, options)]
  const isTorn = !source.ended && !pieces.some(({ kind }) => kind === 'record')
  yield* isTorn ? [fault(source.line, `the last line is cut short (${source.bytes.length} bytes)`)] : pieces
}

/** null: no JSON. */
const parse = (text: string, line: number): JsonRecord | JsonFault | null => {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    return null
  }
  const { survives, depth } = inspect(text)
  if (depth > maxDepth)
    return fault(line, `nested ${depth} deep, more than the ${maxDepth} that can be carried`)
  return { kind: 'record', line, value, text, ...(survives ? {} : { raw: text }) }
}

/** Characters that a damaged line may cost in tries; after that the rest counts as damaged. */
const maxTried = 64 * 1024 * 1024

/** Records glued to each other, or to the piece of one that a torn write left before them. */
function* salvage(text: string, line: number, { isRecord }: JsonlOptions): Generator<JsonRecord | JsonFault> {
  let begun = 0
  let tried = 0
  for (let at = text.indexOf('{"'); at !== -1 && tried < maxTried; at = text.indexOf('{"', at + 1)) {
    const end = endOfValue(text, at)
    tried += (end === -1 ? text.length : end) - at
    const found = end === -1 ? null : parse(text.slice(at, end), line)
    if (found?.kind !== 'record' || !isRecord(found.value)) continue
    if (text.slice(begun, at).trim() !== '') yield broken(text.slice(begun, at), line)
    yield found
    begun = end
    at = end - 1
  }
  if (text.slice(begun).trim() !== '') yield broken(text.slice(begun), line)
}

const broken = (text: string, line: number): JsonFault =>
  fault(line, `no JSON (${Buffer.byteLength(text)} bytes)`)
