import type { Seeded } from '../sim/random.js'

/** What parsers trip over. */
const tokens = [
  ...[
    '"',
    '\\',
    '\\u0000',
    '\\ud800',
    '{',
    '}',
    '[',
    ']',
    ',',
    ':',
    'null',
    'true',
    '-',
    '.',
    '1e999',
    '-0',
    '\n',
    '\r\n',
  ],
  ...[
    '"__proto__"',
    '"constructor"',
    '"id"',
    '"parent"',
    '"type":"session"',
    '{"$blob":"',
    '../',
    '/../../',
    '\u2028',
  ],
  ...['99999999999999999999', '0.1', '1e-7', '"at":""', '"at":"+275760-09-13T00:00:00.000Z"', '\ufeff'],
].map((text) => Buffer.from(text))
const rawTokens = [
  [0],
  [0xff],
  [0xc3],
  [0xed, 0xa0, 0x80],
  [0xf4, 0x90, 0x80, 0x80],
  [0, 0, 0, 0],
  [0x1b, 0x5b, 0x32, 0x4a],
].map((bytes) => Buffer.from(bytes))

/** The bytes with a few of them changed, put in, taken out, repeated, or put elsewhere. */
export const mutatedBytes = (bytes: Buffer, seeded: Seeded): Buffer => {
  let mutated = bytes
  for (let left = seeded.between(1, 5); left > 0; left--) mutated = mutatedOnce(mutated, seeded)
  return mutated
}

const mutatedOnce = (bytes: Buffer, seeded: Seeded): Buffer => {
  const at = seeded.below(bytes.length + 1)
  const to = Math.min(bytes.length, at + seeded.below(seeded.chance(0.1) ? bytes.length + 1 : 60))
  const with_ = (middle: Buffer, end = to): Buffer =>
    Buffer.concat([bytes.subarray(0, at), middle, bytes.subarray(end)])
  switch (seeded.below(8)) {
    case 0:
      return with_(Buffer.of(seeded.below(256)), Math.min(bytes.length, at + 1))
    case 1:
      return with_(Buffer.alloc(0))
    case 2:
      return with_(seeded.pick(tokens), at)
    case 3:
      return with_(seeded.pick(rawTokens), at)
    case 4:
      return with_(Buffer.concat([bytes.subarray(at, to), bytes.subarray(at, to)]))
    case 5:
      return bytes.subarray(0, at)
    case 6:
      return with_(
        Buffer.alloc(seeded.below(3) === 0 ? 5000 : 40, seeded.pick(['[', '{"a":', '\0', 'é', '9'])),
        at,
      )
    default: {
      const other = seeded.below(bytes.length + 1)
      return with_(bytes.subarray(other, other + to - at))
    }
  }
}

const odd: readonly (() => unknown)[] = [
  () => null,
  () => '',
  () => 0,
  () => -1,
  () => 1e308,
  () => true,
  () => [],
  () => ({}),
  () => 'x'.repeat(3000),
  () => '../../outside',
  () => '\u001b[2J\u0000\ud800',
  () => '2026-13-45T99:99:99Z',
  () => nested(2000),
  () => [null, [], {}, 'x'],
  () => JSON.parse('{"__proto__":{"polluted":true},"constructor":null}') as unknown,
]

const nested = (depth: number): unknown => {
  let value: unknown = 'deep'
  for (let i = 0; i < depth; i++) value = [value]
  return value
}

/** Lines of JSON with some members of some of them of another type, gone, or elsewhere; other lines as they are. */
export const mutatedLines = (bytes: Buffer, seeded: Seeded): Buffer => {
  const lines = bytes.toString().split('\n')
  for (let left = seeded.between(1, 4); left > 0; left--) {
    const at = seeded.below(lines.length)
    try {
      lines[at] = JSON.stringify(mutatedValue(JSON.parse(lines[at] as string), seeded))
    } catch {
      lines.splice(at, 1, ...(seeded.chance(0.5) ? [lines[at] as string, lines[at] as string] : []))
    }
  }
  return Buffer.from(lines.join('\n'))
}

/** One value somewhere within becomes an odd one, or its key another. */
const mutatedValue = (value: unknown, seeded: Seeded): unknown => {
  if (typeof value !== 'object' || value === null || seeded.chance(0.2)) return seeded.pick(odd)()
  if (Array.isArray(value)) {
    const at = seeded.below(value.length)
    return value.length === 0 ? [seeded.pick(odd)()] : value.with(at, mutatedValue(value[at], seeded))
  }
  const entries = Object.entries(value)
  if (entries.length === 0) return { odd: seeded.pick(odd)() }
  const at = seeded.below(entries.length)
  const [key, inner] = entries[at] as [string, unknown]
  const choice = seeded.below(10)
  if (choice === 0) entries.splice(at, 1)
  else if (choice === 1) entries[at] = [seeded.pick(entries)[0], inner]
  else entries[at] = [key, mutatedValue(inner, seeded)]
  return Object.fromEntries(entries)
}

export const mutated = (bytes: Buffer, seeded: Seeded): Buffer =>
  seeded.chance(0.5) ? mutatedLines(bytes, seeded) : mutatedBytes(bytes, seeded)
