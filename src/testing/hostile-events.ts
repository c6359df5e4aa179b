import fc from 'fast-check'
import { type Event, type EventId, noteTypes, payloads } from '../events/event.js'

const blob = { $blob: 'ab'.repeat(32), bytes: 70_000, as: 'text' }
const oddNumbers = [Number.POSITIVE_INFINITY, -0, 1e308, -1e308]
const anyJson = fc.oneof(
  { weight: 4, arbitrary: fc.jsonValue({ maxDepth: 2 }) },
  {
    weight: 1,
    arbitrary: fc.constantFrom<unknown>(
      ...oddNumbers,
      blob,
      [blob, 'x'],
      { $blob: 1 },
      JSON.parse('{"__proto__":null,"$blob":"x","bytes":-0}'),
    ),
  },
)

/** The members that a fold looks at, by type; any other name stands for all that it passes over. */
const looked: Readonly<Record<string, readonly string[]>> = {
  session: ['workspace', 'cwd', 'origin', 'forkedFrom', 'startedBy'],
  message: [
    ...['role', 'role', 'content', 'toolCalls', 'toolCalls', 'toolCallId', 'reasoning', 'refusal', 'replay'],
    ...['usage', 'usage', 'group', 'visible', 'context', 'aside', 'model'],
  ],
  compaction: ['summary', 'through', 'keep', 'usage', 'model', 'trigger', 'tokensBefore'],
  branch: ['name', 'summary'],
  head: ['to', 'from', 'reason', 'row', 'row'],
  edit: ['target', 'replacement'],
  checkpoint: ['commit', 'failed', 'reason'],
  custom: ['name', 'content', 'context'],
  title: ['title', 'by'],
  status: ['status', 'reason'],
  tool: ['toolCallId', 'state'],
  process: ['pid', 'startedAt', 'command', 'state', 'deadline'],
  label: ['target', 'label'],
  usage: ['usage', 'model'],
}
const everywhere = ['__proto__', 'redacted', 'kept', 'content']
const types = [
  ...Object.keys(payloads),
  'future',
  'message',
  'message',
  'message',
  'message',
  'message',
  'head',
  'head',
]

/** Likely values for a member, so that hostile events come far into a fold before they are odd. */
const likely: Readonly<Record<string, readonly unknown[]>> = {
  role: ['user', 'assistant', 'tool', 'system'],
  toolCalls: [[{ id: 'c', name: 1, arguments: {} }, null, { id: '__proto__' }, { id: 'c' }], [{ id: 'd e' }]],
  content: ['text', null, [{ type: 'text', text: blob }, 3, { text: [] }]],
  toolCallId: ['c', '__proto__', 'd e'],
  group: ['g', '__proto__'],
  model: ['m', '__proto__', 'constructor', '7'],
  reason: ['undo', 'redo'],
  usage: [{ input: Number.POSITIVE_INFINITY, output: 2 }, { output: 1e308, input: 1e308, costUsd: -0 }, []],
  row: [
    {},
    [],
    { branch: 1, lastTool: { id: 'x', arguments: 3 }, lastAssistant: [blob, 2, 'x'], activeTokens: -0 },
  ],
  by: ['user', 'auto'],
  state: ['started', 'exited'],
  pid: [1, -0],
  redacted: [true, false, false],
  kept: [{ role: 'user', id: 'x', at: 3 }],
}

/** Events whose members may hold any JSON value (and what JSON can be read to, such as Infinity). Ids are made up. */
export const hostileEventsArbitrary = (size = 12): fc.Arbitrary<readonly Event[]> =>
  fc
    .array(
      fc
        .constantFrom(...types)
        .chain((type) => fc.tuple(fc.constant(type), membersOfType(type), fc.nat(20), fc.nat(3))),
      { maxLength: size },
    )
    .map((drafts) => {
      const ids = drafts.map((_, n) => (n + 1).toString(16).padStart(32, 'a'))
      return drafts.map(
        ([type, members, pick, oddity], n): Event => ({
          ...withLinks(members, ids, pick),
          id: ids[n] ?? '',
          parent: n === 0 ? null : (ids[oddity < 2 ? pick % (n + 1) : n - 1] ?? null),
          at: new Date(Date.parse('2026-12-01T00:00:00.000Z') + pick).toISOString(),
          type,
          ...((noteTypes.has(type) || oddity === 0) && n > 0 ? { note: true as const } : {}),
        }),
      )
    })

const membersOfType = (type: string): fc.Arbitrary<readonly (readonly [string, unknown])[]> =>
  fc.array(
    fc.constantFrom(...(looked[type] ?? everywhere), ...everywhere.slice(0, 3)).chain((name) => {
      const values = Object.hasOwn(likely, name) ? likely[name] : undefined
      const value: fc.Arbitrary<unknown> =
        values === undefined
          ? anyJson
          : fc.oneof({ weight: 3, arbitrary: fc.constantFrom(...values) }, { weight: 1, arbitrary: anyJson })
      return value.map((item) => [name, item] as const)
    }),
    { maxLength: 6 },
  )

/** Half of the links point at events that are there. */
const withLinks = (
  members: readonly (readonly [string, unknown])[],
  ids: readonly EventId[],
  pick: number,
): Record<string, unknown> =>
  Object.fromEntries(
    members.map(([name, value]) => [
      name,
      ['through', 'target', 'to', 'from'].includes(name) && pick % 2 === 0 ? ids[pick % ids.length] : value,
    ]),
  )
