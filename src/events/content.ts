import * as t from 'io-ts'

/** JSON has no other numbers: NaN would be stored as null. */
export const Finite = t.refinement(t.number, Number.isFinite, 'a finite number')

/**
 * A reference to a value kept outside the line: `$blob` is the SHA-256 of its bytes, `bytes` their count.
 * `as` says what they are: `text` (UTF-8), `json` (any JSON value) or `base64` (bytes that base64 gives back).
 */
export const BlobRef = t.intersection([
  t.type({ $blob: t.string, bytes: Finite, as: t.keyof({ text: null, json: null, base64: null }) }),
  t.partial({ media: t.string }),
])
export type BlobRef = t.TypeOf<typeof BlobRef>

export const isBlobRef = (value: unknown): value is BlobRef =>
  typeof value === 'object' && value !== null && typeof (value as { $blob?: unknown }).$blob === 'string'

/** Text as given, or the blob that holds it. */
export const Text = t.union([t.string, BlobRef], 'text')
export type Text = t.TypeOf<typeof Text>

const TextPart = t.type({ type: t.literal('text'), text: Text })
const MediaPart = t.intersection([
  t.type({ type: t.keyof({ image: null, audio: null, document: null }) }),
  t.partial({ media: t.string, data: Text, url: t.string, alt: t.string }),
])
/** A part of a kind that format 1 does not name: kept as it is. */
const OtherPart = t.refinement(t.type({ type: t.string }), (part) => !knownParts.has(part.type), 'a part')
const knownParts = new Set(['text', 'image', 'audio', 'document'])

export const Part = t.union(
  [TextPart, MediaPart, OtherPart],
  'a part (an object with a type, and what that type holds)',
)
export type Part = t.TypeOf<typeof Part>

/** What was said: text, or parts. */
export const Content = t.union([Text, t.array(Part)], 'text or parts')
export type Content = t.TypeOf<typeof Content>

/** Tokens; `input` includes what the cache gave. `costUsd` in US dollars. */
export const Usage = t.intersection([
  t.type({ input: Finite, output: Finite }),
  t.partial({ cacheRead: Finite, cacheWrite: Finite, reasoning: Finite, costUsd: Finite }),
])
export type Usage = t.TypeOf<typeof Usage>

/** ISO 8601 times, durations in milliseconds. */
export const Timing = t.partial({
  startedAt: t.string,
  completedAt: t.string,
  durationMs: Finite,
  firstTokenMs: Finite,
  reasoningMs: Finite,
})
export type Timing = t.TypeOf<typeof Timing>

/** One call of a tool; `arguments` is the raw text as the model gave it, JSON or not. */
export const ToolCall = t.type({ id: t.string, name: t.string, arguments: Text })
export type ToolCall = t.TypeOf<typeof ToolCall>

export const Reasoning = t.union(
  [Text, t.array(t.intersection([t.type({ text: Text }), t.partial({ signature: t.string })]))],
  'text or a list of {text, signature}',
)
export type Reasoning = t.TypeOf<typeof Reasoning>

/** Where an imported event came from: `extra` holds what the model has no place for, `raw` the source line. */
export const Origin = t.intersection([
  t.type({ format: t.string, id: t.string }),
  t.partial({ extra: t.unknown, raw: Text }),
])
export type Origin = t.TypeOf<typeof Origin>
