import { isUtf8 } from 'node:buffer'
import type { Readable } from 'node:stream'

/** One line of an input: `number` counts from 1; the bytes are without their newline. */
export interface InputLine {
  readonly number: number
  readonly bytes: Buffer
}

/** The lines of a stream as they arrive; a last line needs no newline. A long line is joined once. */
export async function* linesOf(input: Readable): AsyncGenerator<InputLine> {
  let number = 1
  let begun: Buffer[] = []
  for await (const chunk of input) {
    let rest = Buffer.from(chunk as Uint8Array)
    for (let end = rest.indexOf(0x0a); end >= 0; end = rest.indexOf(0x0a)) {
      begun.push(rest.subarray(0, end))
      yield { number: number++, bytes: begun.length === 1 ? (begun[0] as Buffer) : Buffer.concat(begun) }
      begun = []
      rest = rest.subarray(end + 1)
    }
    if (rest.length > 0) begun.push(rest)
  }
  if (begun.length > 0) yield { number, bytes: Buffer.concat(begun) }
}

/** The JSON value of a line; the reason as text where it is none; undefined for an empty line. */
export const jsonOfLine = ({ bytes }: InputLine): { value: unknown } | string | undefined => {
  if (!isUtf8(bytes)) return 'it is no UTF-8'
  try {
    const text = bytes.toString('utf8')
    return text.trim() === '' ? undefined : { value: JSON.parse(text) }
  } catch (error) {
    return `it is no JSON (${(error as Error).message})`
  }
}
