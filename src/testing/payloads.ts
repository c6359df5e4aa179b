import type { Event, EventId } from '../events/event.js'
import type { Step } from './step.js'

/** What a step writes: its payload, and for a note where it hangs. */
export interface Written {
  readonly type: string
  readonly payload: object
  readonly on?: EventId | null
}

export const at = <T>(list: readonly T[], pick: number): T | undefined =>
  list[pick % Math.max(1, list.length)]
export const isRole = (event: Event, role: string): boolean => event.type === 'message' && event.role === role
const callIds = (event: Event): readonly string[] =>
  Array.isArray(event.toolCalls) ? (event.toolCalls as { id: string }[]).map(({ id }) => id) : []
const usageOf = (step: Step): object =>
  step.b ? { usage: { input: step.a * 10, output: step.pick, costUsd: step.a / 8 } } : {}
const blob = { $blob: 'ab'.repeat(32), bytes: 70_000, as: 'text' }

type Make = (step: Step, path: readonly Event[]) => Written | null

const message = (role: string, content: unknown, more: object = {}): Written => ({
  type: 'message',
  payload: { role, content, ...more },
})

/** Text, a blob, or parts with both. */
const contentOf = ({ text, a, b }: Step): unknown => {
  const parts = [
    { type: 'text', text },
    { type: 'image', media: 'image/png', data: blob },
  ]
  return a === 0 ? parts : a === 1 && b ? blob : text
}

const mannerOf = ({ a, pick, text }: Step): object => ({
  ...(a === 3 ? { group: `g${pick % 3}` } : {}),
  ...(pick % 4 === 0 ? { reasoning: text } : {}),
  ...(pick % 4 === 1 ? { reasoning: [{ text, signature: 's' }] } : {}),
  ...(pick % 7 === 0 ? { refusal: text } : {}),
  ...(pick % 3 === 0 ? { model: `m${a}` } : {}),
})

/** Ids of their own but for now and then, as some models give the same ones again. */
const callsOf = (count: number, { pick }: Step, path: readonly Event[]): object[] =>
  Array.from({ length: count }, (_, n) => ({
    id: pick % 9 === 0 ? `call_${n}` : `call_${path.length}_${pick}_${n}`,
    name: 'tool',
    arguments: ['{"x":1}', '', 'no json', '[1]'][(pick + n) % 4],
  }))

const speaker = ({ b }: Step): string => (b ? 'user' : 'assistant')

/** Any order, twice over, or of a call that nobody made. */
const result: Make = ({ pick, text, a, b }, path) => {
  const ids = [...path.flatMap(callIds), ...(pick % 11 === 0 ? ['nobody'] : [])]
  const toolCallId = at(ids.slice(-4), pick)
  return toolCallId === undefined ? null : message('tool', text, { toolCallId, ...(b ? { ok: a > 0 } : {}) })
}

const compaction: Make = (step, path) => {
  const earlier = path.findLast(({ type }) => type === 'compaction')?.through
  const floor = path.findIndex(({ id }) => id === earlier)
  const candidates = path.filter(
    (_, index) => index >= Math.max(0, floor) && isSettled(path.slice(0, index + 1), path),
  )
  const through = at(candidates, step.pick)
  if (through === undefined) return null
  const keep = step.b ? { keep: keepOf(path, through.id) } : {}
  const payload = { summary: `summary ${step.text}`, through: through.id, tokensBefore: 10, tokensAfter: 1 }
  return { type: 'compaction', payload: { ...payload, ...keep, ...usageOf(step) } }
}

const edit: Make = ({ pick, b, text }, path) => {
  const messages = path.filter(({ type }) => type === 'message')
  const target = at(messages, pick)?.id
  return target === undefined
    ? null
    : { type: 'edit', payload: { target, replacement: b ? `edited ${text}` : null } }
}

const toolNote: Make = ({ pick, a, b }, path) => {
  const callers = path.filter((event) => callIds(event).length > 0)
  const caller = at(callers, pick)
  if (caller === undefined) return null
  const payload = { toolCallId: at(callIds(caller), a), state: b ? 'started' : 'asked' }
  return { type: 'tool', payload, on: caller.id }
}

const noteOn = (type: string, { b, pick }: Step, path: readonly Event[], payload: object): Written => ({
  type,
  payload,
  on: (b ? path.at(-1) : at(path, pick))?.id ?? null,
})

/** What each kind of step writes at the end of a path; null where it makes no sense there. */
export const makers: Readonly<Record<string, Make>> = {
  user: (step) =>
    message('user', contentOf(step), step.b && step.a === 2 ? { group: `u${step.pick % 2}` } : {}),
  assistant: (step) => message('assistant', contentOf(step), { ...mannerOf(step), ...usageOf(step) }),
  call: (step, path) =>
    message('assistant', step.b ? step.text : null, {
      ...mannerOf(step),
      toolCalls: callsOf(step.a, step, path),
    }),
  result,
  system: ({ text }) => message('system', text),
  aside: (step, path) =>
    message(speaker(step), step.text, {
      aside: true,
      ...(step.a === 0 && !step.b ? { toolCalls: callsOf(1, step, path) } : {}),
    }),
  hidden: (step) => message(speaker(step), step.text, { visible: false }),
  'context-free': (step, path) =>
    message(speaker(step), step.text, {
      context: false,
      ...(step.b ? {} : { toolCalls: callsOf(step.a, step, path) }),
    }),
  compact: compaction,
  branch: ({ a, b, text }) => ({
    type: 'branch',
    payload: { name: `name ${a}`, ...(b ? { summary: text } : {}) },
  }),
  edit,
  custom: ({ a, b, text }) => ({
    type: 'custom',
    payload: { name: 'x', data: a, ...(b ? { content: text } : {}) },
  }),
  unknown: ({ a, text }) => ({ type: 'future.thing', payload: { content: text, role: 'user', calls: a } }),
  checkpoint: ({ b, text }) => ({
    type: 'checkpoint',
    payload: { reason: 'manual', ...(b ? { commit: 'c0ffee', files: [] } : { failed: text }) },
  }),
  restore: (_, path) => ({
    type: 'restore',
    payload: { checkpoint: path[0]?.id, safety: null, files: [] },
  }),
  tool: toolNote,
  title: (step, path) =>
    noteOn('title', step, path, { title: `title ${step.a}`, by: ['user', 'auto', 'import', 'auto'][step.a] }),
  status: (step, path) =>
    noteOn('status', step, path, {
      status: ['processing', 'ask_permission', 'waiting_for_user', 'failed'][step.a],
      reason: step.b ? step.text : null,
    }),
  label: (step, path) =>
    noteOn('label', step, path, {
      target: at(path, step.pick)?.id,
      label: step.b ? `label ${step.a}` : null,
    }),
  process: (step, path) =>
    noteOn('process', step, path, {
      pid: step.a,
      startedAt: 't',
      command: 'c',
      state: step.b ? 'started' : 'exited',
    }),
  usage: (step, path) =>
    noteOn('usage', step, path, { for: 'title', model: 'm', usage: { input: step.a, output: 1 } }),
  request: (step, path) => noteOn('request', step, path, { model: 'm', params: step.a }),
}

/** No call among `covered` gets a result only after it, or none at all. */
const isSettled = (covered: readonly Event[], path: readonly Event[]): boolean => {
  const answered = new Set(covered.filter((event) => isRole(event, 'tool')).map((event) => event.toolCallId))
  const later = new Set(
    path
      .slice(covered.length)
      .filter((event) => isRole(event, 'tool'))
      .map((event) => event.toolCallId),
  )
  return covered.flatMap(callIds).every((id) => answered.has(id) && !later.has(id))
}

/** Every system message up to `through`, as seen at the end of the path. */
const keepOf = (path: readonly Event[], through: EventId): object[] => {
  const end = path.findIndex(({ id }) => id === through)
  return path
    .slice(0, end + 1)
    .filter((event) => isRole(event, 'system'))
    .map(({ id, content }) => {
      const edit = path.findLast((event) => event.type === 'edit' && event.target === id)
      return { id, message: { role: 'system', content: edit === undefined ? content : edit.replacement } }
    })
}
