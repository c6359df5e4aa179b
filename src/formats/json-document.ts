import { isUtf8 } from 'node:buffer'
import { readFile, stat } from 'node:fs/promises'
import { endOfString, endOfValue, inspect, maxDepth } from './json-text.js'
import type { JsonFault, JsonRecord } from './jsonl.js'
import { parsedJson } from './members.js'
import type { Json } from './remainder.js'

/** A file that is one JSON object, one of whose members lists records. */
export interface JsonDocument {
  /** The object without its records. */
  readonly head: Json
  /** Each with the line that it begins on. */
  readonly records: readonly JsonRecord[]
  readonly faults: readonly JsonFault[]
}

export interface DocumentOptions {
  /** The member that lists the records, by its name. */
  readonly lists: ReadonlySet<string>
  /** Whether a value found between damaged bytes is a record, not a piece of one. */
  readonly isRecord: (value: unknown) => boolean
}

/** A document is held whole: V8 keeps no string much longer. */
const maxBytes = 256 * 1024 * 1024

/** Reads a document record by record; damage stays where it is and is told with its line (INV-4). Rejects as the file does. */
export const readDocument = async (path: string, options: DocumentOptions): Promise<JsonDocument> => {
  const { size } = await stat(path)
  if (size > maxBytes)
    return { head: {}, records: [], faults: [fault(1, `the file is too long to read (${size} bytes)`)] }
  const bytes = await readFile(path)
  const reading = new DocumentReader(bytes.toString().replace(/^\uFEFF/, ''), options)
  const document = reading.read()
  const broken = isUtf8(bytes) ? [] : [fault(1, 'is no valid UTF-8: its bad bytes read as U+FFFD')]
  return { ...document, faults: [...broken, ...document.faults] }
}

const fault = (line: number, reason: string): JsonFault => ({ kind: 'fault', line, reason })

/** Characters that a damaged document may cost in tries; after that the rest counts as damaged. */
const maxTried = 64 * 1024 * 1024

export class DocumentReader {
  readonly #head: Record<string, unknown> = {}
  readonly #records: JsonRecord[] = []
  readonly #faults: JsonFault[] = []
  #at = 0
  #line = 1
  #counted = 0
  #tried = 0

  constructor(
    readonly text: string,
    readonly options: DocumentOptions,
  ) {}

  read(): JsonDocument {
    this.#skip()
    if (this.text[this.#at] === '{') {
      this.#at++
      while (this.#member());
    } else if (this.text.trim() !== '') this.#fail('no JSON object', this.#at)
    return { head: this.#head, records: this.#records, faults: this.#faults }
  }

  #skip(): void {
    while (this.#at < this.text.length && ' \t\r\n,\0'.includes(this.text[this.#at] as string)) this.#at++
  }

  /** The line of a place, which never lies before the last one that was asked for. */
  #lineAt(at: number): number {
    for (let end = this.text.indexOf('\n', this.#counted); end !== -1 && end < at; ) {
      this.#line++
      this.#counted = end + 1
      end = this.text.indexOf('\n', this.#counted)
    }
    return this.#line
  }

  #fail(reason: string, at: number): void {
    this.#faults.push(fault(this.#lineAt(at), reason))
  }

  /** One member of the object; false at its end. */
  #member(): boolean {
    this.#skip()
    const start = this.#at
    if (start >= this.text.length) return this.#tornAt(start)
    if (this.text[start] === '}') return this.#end(start + 1)
    const end = this.text[start] === '"' ? endOfString(this.text, start) : start
    const name = parsedJson(this.text.slice(start, end))
    this.#at = end
    this.#skip()
    if (typeof name !== 'string' || this.text[this.#at] !== ':') return this.#salvage(start) && this.#list()
    this.#at++
    this.#skip()
    if (this.options.lists.has(name) && this.text[this.#at] === '[') {
      this.#at++
      return this.#list()
    }
    const valueEnd = this.#endOfValueAt(this.#at)
    if (valueEnd === -1) return this.#salvage(start) && this.#list()
    const value = parsedJson(this.text.slice(this.#at, valueEnd))
    if (value === undefined) this.#fail(`member ${name} is no JSON`, start)
    else this.#head[name] = value
    this.#at = valueEnd
    return true
  }

  #tornAt(at: number): boolean {
    this.#fail('the file is cut short: its object does not end', at)
    return false
  }

  #end(at: number): boolean {
    const rest = this.text.slice(at).replaceAll('\0', '').trim()
    if (rest !== '') this.#fail(`${Buffer.byteLength(rest)} bytes after the end of the object`, at)
    return false
  }

  #endOfValueAt(at: number): number {
    const first = this.text[at]
    if (first === '{' || first === '[') return endOfValue(this.text, at)
    if (first === '"') return endOfString(this.text, at)
    const scalar = /[^,}\]\s]+/y
    scalar.lastIndex = at
    return scalar.test(this.text) ? scalar.lastIndex : -1
  }

  /** From within a list to its end; false where the text ends before. */
  #list(): boolean {
    for (;;) {
      this.#skip()
      const start = this.#at
      if (start >= this.text.length) return this.#tornAt(start)
      if (this.text[start] === ']') {
        this.#at++
        return true
      }
      const end = this.#endOfValueAt(start)
      const text = end === -1 ? '' : this.text.slice(start, end)
      if (parsedJson(text) !== undefined) {
        this.#take(text, start)
        this.#at = end
      } else if (!this.#salvage(start)) return false
    }
  }

  #take(text: string, at: number): void {
    const { survives, depth } = inspect(text)
    if (depth > maxDepth) {
      this.#fail(`nested ${depth} deep, more than the ${maxDepth} that can be carried`, at)
      return
    }
    const value = JSON.parse(text) as unknown
    const line = this.#lineAt(at)
    this.#records.push({ kind: 'record', line, value, text, ...(survives ? {} : { raw: text }) })
  }

  /** From damaged bytes on to after the next value that is a record; false where there is none. */
  #salvage(from: number): boolean {
    let at = this.text.indexOf('{', from)
    for (; at !== -1 && this.#tried < maxTried; at = this.text.indexOf('{', at + 1)) {
      const end = endOfValue(this.text, at)
      this.#tried += (end === -1 ? this.text.length : end) - at
      const text = end === -1 ? '' : this.text.slice(at, end)
      if (!this.options.isRecord(parsedJson(text))) continue
      this.#between(from, at)
      this.#take(text, at)
      this.#at = end
      return true
    }
    this.#between(from, this.text.length)
    return false
  }

  #between(from: number, to: number): void {
    const text = this.text.slice(from, to)
    if (/^[\s,\]}\0]*$/.test(text)) return
    const isTorn = to === this.text.length && this.text.slice(to - 2).trim() !== '}'
    this.#fail(`${isTorn ? 'cut short: ' : ''}no JSON (${Buffer.byteLength(text)} bytes)`, from)
  }
}
