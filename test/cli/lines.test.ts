import { Readable } from 'node:stream'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { jsonOfLine, linesOf } from '../../src/cli/lines.js'

const runs = Number(process.env.FC_RUNS ?? 1) * 200

const collected = async (chunks: readonly Uint8Array[]): Promise<readonly string[]> => {
  const lines: string[] = []
  for await (const { number, bytes } of linesOf(Readable.from(chunks.map((chunk) => Buffer.from(chunk))))) {
    lines.push(bytes.toString('latin1'))
    expect(number).toBe(lines.length)
  }
  return lines
}

describe('lines of stdin', () => {
  it('are the same however the bytes are cut into chunks', async () => {
    const byte = fc.constantFrom(0x0a, 0x61, 0x62, 0xff)
    await fc.assert(
      fc.asyncProperty(
        fc.array(
          fc
            .uint8Array({ maxLength: 6 })
            .chain((a) => fc.array(byte, { minLength: a.length, maxLength: a.length })),
        ),
        async (chunks) => {
          const all = Buffer.from(chunks.flat())
          const expected = all.toString('latin1').split('\n')
          if (expected.at(-1) === '') expected.pop()
          expect(await collected(chunks.map((chunk) => Uint8Array.from(chunk)))).toEqual(expected)
        },
      ),
      { numRuns: runs },
    )
  })

  it('tell what is no UTF-8, what is no JSON, and what is empty', () => {
    const line = (bytes: Buffer) => jsonOfLine({ number: 1, bytes })
    expect(line(Buffer.from([0x22, 0xff, 0x22]))).toBe('it is no UTF-8')
    expect(line(Buffer.from('{"a":'))).toMatch(/it is no JSON/)
    expect(line(Buffer.from(' \r'))).toBeUndefined()
    expect(line(Buffer.from('{"a":1}'))).toEqual({ value: { a: 1 } })
  })
})
