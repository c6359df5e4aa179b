import fc from 'fast-check'
import { Tagged } from '../events/errors/index.js'
import { advancesHead, type Event } from '../events/event.js'
import type { Session } from '../session/api.js'

/** One thing that a program does to a session. `pick` chooses among what there is; `a`, `b`, `text` as each kind likes. */
export interface SessionStep {
  readonly session: number
  readonly kind: (typeof kinds)[number]
  readonly pick: number
  readonly a: number
  readonly b: boolean
  readonly text: string
}

const kinds = [
  ...['user', 'user', 'user', 'assistant', 'assistant', 'assistant', 'call', 'call', 'result', 'result'],
  ...['system', 'aside', 'hidden', 'grouped', 'several', 'tool', 'tool', 'elsewhere', 'elsewhere'],
  ...[
    'undo',
    'undo',
    'redo',
    'redo',
    'checkout',
    'branch',
    'branch-at',
    'label',
    'title',
    'compact',
    'compact',
  ],
  ...['compaction', 'edit', 'custom', 'checkpoint', 'restore', 'unknown', 'status', 'process', 'usage'],
  ...['request', 'large', 'refresh', 'reopen', 'at-once'],
] as const

export const sessionSteps = (sessions: number, maxLength = 40): fc.Arbitrary<readonly SessionStep[]> =>
  fc.array(
    fc.record({
      session: fc.nat(sessions - 1),
      kind: fc.constantFrom(...kinds),
      pick: fc.nat(1000),
      a: fc.nat(3),
      b: fc.boolean(),
      text: fc.oneof(fc.constantFrom('', 'hello', '$x'), fc.string({ maxLength: 6 })),
    }),
    { maxLength, size: 'max' },
  )

const at = <T>(list: readonly T[], pick: number): T | undefined => list[pick % Math.max(1, list.length)]
const message = (role: string, content: unknown, more: object = {}) => ({
  type: 'message',
  role,
  content,
  ...more,
})
const calls = (n: number, pick: number): object[] =>
  Array.from({ length: n }, (_, i) => ({ id: `c${pick % 5}${i}`, name: 'run', arguments: '{}' }))

/** Longer than what a line holds itself. */
const large = (text: string): string => `${text}${'é'.repeat(40_000)}`

/** Plays one step; what the session refuses is no failure. */
export const playStep = async (session: Session, log: readonly Event[], step: SessionStep): Promise<void> => {
  try {
    await play(session, log, step)
  } catch (error) {
    if (!(error instanceof Tagged) || !allowed.has(error.tag)) throw error
  }
}
const allowed = new Set(['Refused', 'NotFound', 'InvalidDraft'])

const play = async (session: Session, log: readonly Event[], step: SessionStep): Promise<unknown> => {
  const { kind, pick, a, b, text } = step
  const nodes = log.filter(advancesHead)
  const node = at(nodes, pick)?.id ?? session.id
  const prompt =
    at(
      nodes.filter(({ role }) => role === 'user'),
      pick,
    )?.id ?? session.id
  switch (kind) {
    case 'undo':
      return session.undo(prompt)
    case 'redo':
      return session.redo()
    case 'checkout':
      return session.checkout(node)
    case 'branch':
      return session.branch(`name ${a}`)
    case 'branch-at':
      return session.branch(`name ${a}`, node)
    case 'label':
      return session.label(node, b ? `label ${a}` : null)
    case 'title':
      return session.title(`title ${a}`, (['user', 'auto', 'import'] as const)[a % 3])
    case 'compact':
      return session.compact({ summary: `summary ${text}`, ...(b ? { through: node } : {}) })
    case 'edit':
      return session.edit(node, b ? `edited ${text}` : null)
    case 'refresh':
      return session.refresh()
    case 'at-once':
      return Promise.allSettled([
        session.append(message('user', text) as never),
        session.branch(`name ${a}`, node),
        session.append([message('assistant', null, { toolCalls: calls(1, pick) }), toolNote(pick)] as never),
        session.compact({ summary: 'at once' }),
        session.undo(prompt),
      ])
    default:
      return session.append(draftsOf(step, nodes) as never)
  }
}

const toolNote = (pick: number): object => ({ type: 'tool', toolCallId: `c${pick % 5}0`, state: 'started' })

const draftsOf = ({ kind, pick, a, b, text }: SessionStep, nodes: readonly Event[]): unknown => {
  const node = at(nodes, pick)?.id
  const makers: Readonly<Record<string, () => unknown>> = {
    user: () =>
      message(
        'user',
        b
          ? text
          : [
              { type: 'text', text },
              { type: 'image', media: 'i/p', data: 'aGk=' },
            ],
      ),
    assistant: () =>
      message('assistant', text, {
        model: `m${a}`,
        ...(b ? { usage: { input: pick, output: a } } : {}),
        ...(a === 1 ? { reasoning: text } : {}),
      }),
    grouped: () =>
      message('assistant', text, {
        group: `g${a % 2}`,
        ...(b ? { usage: { input: pick, output: a }, toolCalls: calls(1, pick) } : {}),
      }),
    call: () => message('assistant', b ? text : null, { toolCalls: calls(a, pick) }),
    result: () => message('tool', text, { toolCallId: `c${pick % 5}${a}` }),
    system: () => message('system', text, b ? { $odd: { $blob: 'no' } } : {}),
    aside: () => message(b ? 'user' : 'assistant', text, { aside: true, group: 'g0' }),
    hidden: () => message(b ? 'user' : 'assistant', text, { visible: false, usage: { input: 1, output: 1 } }),
    large: () =>
      message((['assistant', 'system', 'user'] as const)[a % 3] ?? 'user', large(text), { group: 'g0' }),
    several: () => [
      message('assistant', null, { toolCalls: calls(2, pick) }),
      toolNote(pick),
      message('user', text),
    ],
    tool: () => toolNote(pick),
    elsewhere: () => ({ ...message('user', text), parent: node }),
    compaction: () => ({ type: 'compaction', summary: text, through: node, ...(b ? { keep: [] } : {}) }),
    custom: () => ({ type: 'custom', name: 'x', data: { $a: a }, ...(b ? { content: text } : {}) }),
    checkpoint: () => ({ type: 'checkpoint', reason: 'manual', commit: 'c0ffee', files: [] }),
    restore: () => ({ type: 'restore', checkpoint: node, safety: null, files: [] }),
    unknown: () => ({ type: 'future.thing', content: text, ...(b ? { note: true } : {}) }),
    status: () => ({
      type: 'status',
      status: ['processing', 'ask_permission', 'waiting_for_user', 'failed'][a],
    }),
    process: () => ({
      type: 'process',
      pid: a,
      startedAt: 't',
      command: 'c',
      state: b ? 'started' : 'exited',
    }),
    usage: () => ({ type: 'usage', for: 'title', model: 'm', usage: { input: a, output: 1 } }),
    request: () => ({ type: 'request', model: 'm', tools: [large('t')] }),
  }
  return (makers[kind] ?? (() => message('user', text)))()
}
