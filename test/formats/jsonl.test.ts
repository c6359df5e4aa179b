import { describe, expect, it } from 'vitest'
import { inspect } from '../../src/formats/json-text.js'
import { type JsonFault, type JsonRecord, parseJsonl } from '../../src/formats/jsonl.js'

type Found = JsonRecord | JsonFault

async function* chunks(bytes: Buffer, size: number): AsyncGenerator<Buffer> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size)
}
const isRecord = (value: unknown): boolean => typeof value === 'object' && value !== null && 'id' in value
const read = async (source: string | Buffer, size = 7, maxLine?: number): Promise<Found[]> => {
  const found: Found[] = []
  const options = maxLine === undefined ? { isRecord } : { isRecord, maxLine }
  for await (const item of parseJsonl(chunks(Buffer.from(source as string), size), options)) found.push(item)
  return found
}
const told = (found: readonly Found[]): unknown[] =>
  found.map((item) => (item.kind === 'record' ? item.value : `${item.line}: ${item.reason}`))

describe('a JSONL file, record by record', () => {
  it('reads lines that end in CRLF, after a byte order mark, with blank ones between', async () => {
    expect(told(await read('\uFEFF{"id":1}\r\n\r\n{"id":2}\r\n'))).toEqual([{ id: 1 }, { id: 2 }])
  })

  it('takes a whole last line without its newline as a record', async () => {
    expect(told(await read('{"id":1}\n{"id":2}'))).toEqual([{ id: 1 }, { id: 2 }])
  })

  it('names the line of a torn tail', async () => {
    expect(told(await read('{"id":1}\n{"id":2,"t":"ab'))).toEqual([
      { id: 1 },
      '2: the last line is cut short (15 bytes)',
    ])
  })

  it('names the line of a tail torn inside a character', async () => {
    const bytes = Buffer.from('{"id":1}\n{"id":"页"}')
    expect(told(await read(bytes.subarray(0, bytes.length - 4)))).toEqual([
      { id: 1 },
      expect.stringMatching(/^2: the last line is cut short/),
    ])
  })

  it('finds two records on one line', async () => {
    expect(told(await read('{"id":1}{"id":2} {"id":3}\n'))).toEqual([{ id: 1 }, { id: 2 }, { id: 3 }])
  })

  it('finds the record that was glued to a torn one, and tells the fragment', async () => {
    expect(told(await read('{"id":1,"text":"cut {"id":2}\n{"id":3}\n'))).toEqual([
      '1: no JSON (20 bytes)',
      { id: 2 },
      { id: 3 },
    ])
  })

  it('takes no piece of a broken record for a record', async () => {
    expect(told(await read('{"id":1,"inner":{"x":1}\n'))).toEqual(['1: no JSON (23 bytes)'])
  })

  it.each(['\u2028', '\u2029', '\u0085'])('keeps %j inside a string', async (separator) => {
    expect(told(await read(`{"id":"a${separator}b"}\n`))).toEqual([{ id: `a${separator}b` }])
  })

  it('tells NUL bytes and reads what stands after them', async () => {
    expect(told(await read('{"id":1}\n\0\0\0\0{"id":2}\n'))).toEqual([
      { id: 1 },
      '2: 4 NUL bytes, as a power cut leaves them',
      { id: 2 },
    ])
  })

  it('keeps bytes that are no UTF-8 in raw', async () => {
    const bytes = Buffer.concat([Buffer.from('{"id":"a'), Buffer.from([0xff]), Buffer.from('"}\n')])
    const [record] = (await read(bytes)) as JsonRecord[]
    expect(record?.value).toEqual({ id: 'a\uFFFD' })
    expect(Buffer.from(record?.raw?.slice('base64:'.length) ?? '', 'base64')).toEqual(
      bytes.subarray(0, bytes.length - 1),
    )
    expect(record?.fault).toContain('UTF-8')
  })

  it('reports a line that is too long without holding it', async () => {
    expect(told(await read(`{"id":"${'x'.repeat(1000)}"}\n{"id":2}\n`, 64, 500))).toEqual([
      '1: the line is too long to read (1009 bytes)',
      { id: 2 },
    ])
  })

  it('refuses what is nested too deep for anyone to walk', async () => {
    const deep = `{"id":${'['.repeat(5000)}${']'.repeat(5000)}}\n`
    expect(told(await read(`${deep}{"id":2}\n`, 4096))).toEqual([
      '1: nested 5001 deep, more than the 500 that can be carried',
      { id: 2 },
    ])
  })

  it('reads the same in chunks of any size', async () => {
    const text = '\uFEFF{"id":"页"}\r\n{"id":1}{"id":2}\nbad\n{"id":3}'
    const whole = told(await read(text, 10_000))
    for (let size = 1; size < 40; size++) expect(told(await read(text, size))).toEqual(whole)
  })
})

describe('what parsing would lose', () => {
  it.each([
    '{"n":12345678901234567890}',
    '{"n":0.1234567890123456789}',
    '{"n":-0}',
    '{"n":1e999}',
    '{"a":1,"a":2}',
    '{"a":{"b":1,"\\u0062":2}}',
  ])('%s does not survive', (text) => {
    expect(inspect(text).survives).toBe(false)
  })

  it.each([
    '{"n":1.0}',
    '{"n":1E2}',
    '{"n":534.7428297914272}',
    '{"n":-12}',
    '{"n":0}',
    '{"n":0.000}',
    '{"a":{"a":"a\\":1"},"b":["a","a"]}',
    '{"t":"12345678901234567890"}',
  ])('%s survives', (text) => expect(inspect(text).survives).toBe(true))

  it('is kept in raw', async () => {
    const [record] = (await read('{"id":12345678901234567890}\n')) as JsonRecord[]
    expect(record?.raw).toBe('{"id":12345678901234567890}')
  })
})
