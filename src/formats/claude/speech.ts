import { sha256 } from '../../events/id.js'
import type { EventItem, Item } from '../format.js'
import { isFiniteNumber, spokenText } from '../members.js'
import { isObject, type Json } from '../remainder.js'
import { partOf, spokenOf } from './blocks.js'
import { annotate, append, type Context, extraOf, parentOf, type Status } from './chain.js'
import { saidAssistant, saidUser } from './record.js'
import { type ClaudeRecord, objectOf, textOf } from './records.js'
import { outputFileIn } from './side-files.js'
import type { Node } from './tree.js'
import { usageOf } from './usage.js'

/** Lines that the user, the model or a tool speaks. */

/** `user` lines: each tool result is a message of its own, what is left is the user's. Each hangs on the one before. */
export const userLine = (context: Context): Item[] => {
  const { record, key } = context
  const message = objectOf(record.value, 'message')
  const { content } = message
  const blocks = Array.isArray(content) ? content : []
  const results = blocks.filter(isResult)
  const rest = blocks.filter((block) => !isResult(block))
  const hasText = results.length === 0 || rest.length > 0
  const joining = results.length > 0 ? ({ as: 'result' } as const) : ({ as: 'turn' } as const)
  const first = parentOf(context, joining)
  let parent = first
  const items: Item[] = []
  const payloads = results.map((block) => resultPayload(block, record))
  const prompt = hasText ? promptPayload(record.value, content, rest.map(partOf)) : null
  const said = saidUser(payloads, prompt)
  const extra = extraOf(context, first, said)
  const names = new Set<string>()
  for (const [i, block] of results.entries()) {
    const isLast = !hasText && i === results.length - 1
    const { tool_use_id: id } = block
    const name = unused(`${key}#${typeof id === 'string' ? id : i + 1}`, names)
    items.push(
      append(context, {
        key: results.length === 1 && !hasText ? key : name,
        type: 'message',
        payload: payloads[i] ?? {},
        parent,
        joining,
        results: typeof id === 'string' ? [id] : [],
        isLast,
        extra,
      }),
    )
    parent = context.chain.tip
  }
  if (prompt !== null)
    items.push(
      append(context, { key, type: 'message', payload: prompt, parent, joining, extra }),
      ...promptTitle(context, prompt),
    )
  return [...items, ...interruption(context, content)]
}

const promptTitle = (context: Context, { visible, content }: Record<string, unknown>): Item[] => {
  const title = visible === false ? null : context.chain.naming.of(spokenText(content))
  if (title === null) return []
  const payload = { title, by: 'auto' }
  return [annotate(context, { key: `${context.key}#title`, type: 'title', payload, isLast: false })]
}

const isResult = (block: unknown): block is Json => isObject(block) && block.type === 'tool_result'

const unused = (name: string, names: Set<string>): string => {
  const free = names.has(name) ? unused(`${name}'`, names) : name
  names.add(free)
  return free
}

const isHidden = (value: Json): boolean => value.isMeta === true || value.isVisibleInTranscriptOnly === true

const promptPayload = (
  value: Json,
  content: unknown,
  parts: readonly unknown[],
): Record<string, unknown> => ({
  role: 'user',
  content: Array.isArray(content) ? parts : typeof content === 'string' ? content : null,
  ...(isHidden(value) ? { visible: false } : {}),
})

const resultPayload = (block: Json, { value, files }: ClaudeRecord): Record<string, unknown> => {
  const { tool_use_id: id, content, is_error: failed } = block
  const fullOutput = files?.get(outputFileIn(block) ?? '')
  const duration = objectOf(value, 'toolUseResult').durationMs
  return {
    role: 'tool',
    content: Array.isArray(content) ? content.map(partOf) : typeof content === 'string' ? content : null,
    ...(typeof id === 'string' ? { toolCallId: id } : {}),
    ...(typeof failed === 'boolean' ? { ok: !failed } : {}),
    ...(isFiniteNumber(duration) ? { timing: { durationMs: duration } } : {}),
    ...(fullOutput === undefined ? {} : { meta: { fullOutput } }),
  }
}

const interruption = (context: Context, content: unknown): EventItem[] => {
  const first = Array.isArray(content)
    ? (content as unknown[]).map((block) => (isObject(block) ? block.text : block))
    : [content]
  return first.some((text) => typeof text === 'string' && text.startsWith('[Request interrupted by user'))
    ? status(context, 'interrupted')
    : []
}

/** `assistant` lines: one block each as a rule, those of one message share its id as `group`. */
export const assistantLine = (context: Context): Item[] => {
  const { record, key, reading, chain } = context
  const message = objectOf(record.value, 'message')
  const spoken = spokenOf(message.content, key)
  const group = textOf(message, 'id')
  const model = textOf(message, 'model')
  const stop = textOf(message, 'stop_reason')
  const usage = usageOf(message.usage)
  const failed = record.value.isApiErrorMessage === true
  const joining = { as: 'assistant', message: group } as const
  const parent = parentOf(context, joining)
  const payload = {
    role: 'assistant',
    ...spoken,
    ...(group === null ? {} : { group }),
    ...(model === null ? {} : { model }),
    ...(stop === null ? {} : { stop }),
    ...(usage === undefined ? {} : { usage }),
    ...(failed ? { context: false } : {}),
    ...(isHidden(record.value) ? { visible: false } : {}),
  }
  const calls = (spoken.toolCalls ?? []).map(({ id }) => id)
  const item = append(context, {
    key,
    type: 'message',
    payload,
    parent,
    joining,
    calls,
    extra: extraOf(context, parent, saidAssistant(payload)),
  })
  for (const prompt of promptsIn(message.content))
    reading.prompts.set(sha256(prompt), { session: chain.key, event: key })
  if (failed)
    return [
      item,
      ...status(context, 'failed', typeof spoken.content === 'string' ? spoken.content : undefined),
    ]
  return [item, ...(stop !== null && ended.has(stop) ? status(context, 'completed') : [])]
}

/** Prompts that calls of a message give to sub-agents. */
export const promptsIn = (content: unknown): string[] =>
  (Array.isArray(content) ? content : []).flatMap((block) => {
    const input = isObject(block) && block.type === 'tool_use' ? block.input : undefined
    return isObject(input) && typeof input.prompt === 'string' ? [input.prompt] : []
  })

const ended = new Set(['end_turn', 'stop_sequence', 'max_tokens', 'refusal'])

/** What the transcript shows of the session's status, where it changes. */
export const status = (context: Context, name: Status, reason?: string): EventItem[] => {
  const { chain, key } = context
  if (chain.status === name && reason === undefined) return []
  chain.status = name
  if (chain.tip !== null) chain.statuses.set(chain.tip, name)
  return [
    annotate(context, {
      key: `${key}#status`,
      type: 'status',
      payload: { status: name, ...(reason === undefined ? {} : { reason }) },
      isLast: false,
    }),
  ]
}

/** A line that gives nothing to the model: kept whole as an event of Claude's own. */
export const customEvent = (context: Context, kind: string, parent?: Node | null): Item[] => {
  const { key, record } = context
  const joining = { as: 'aside' } as const
  const on = parent === undefined ? parentOf(context, joining) : parent
  return [
    append(context, {
      key,
      type: 'custom',
      payload: { name: `claude:${kind}`, data: extraOf(context, on, { type: record.type }) ?? {} },
      parent: on,
      joining,
    }),
  ]
}

/** A prompt that was typed while the model worked: an attachment that the model reads as the user's words. */
export const queuedPrompt = (context: Context): Item[] => {
  const { record, key } = context
  const { prompt } = objectOf(record.value, 'attachment')
  const joining = { as: 'turn' } as const
  const parent = parentOf(context, joining)
  const parts = Array.isArray(prompt) ? prompt.map(partOf) : []
  const payload = promptPayload(record.value, prompt, parts)
  return [
    append(context, { key, type: 'message', payload, parent, joining, extra: extraOf(context, parent, {}) }),
  ]
}
