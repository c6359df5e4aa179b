import type { Json } from '../remainder.js'
import { countOther } from '../write/rest.js'
import type { CompactionStep, MessageStep, ResultStep, Step } from '../write/step.js'
import { writeAnswer } from './write-answer.js'
import { userContent } from './write-blocks.js'
import { add, isNothing, type Scribe } from './write-lines.js'

/** Writes the steps below a line; gives the `uuid` of the last one, which the branch ends at. */
export const writeSteps = (scribe: Scribe, steps: readonly Step[], below: string | null): string | null =>
  steps.reduce<string | null>((parent, step) => writeStep(scribe, step, parent), below)

const writeStep = (scribe: Scribe, step: Step, parent: string | null): string | null => {
  if (step.kind === 'message') return writeMessage(scribe, step, parent)
  if (step.kind === 'result') return writeResult(scribe, step, parent)
  if (step.kind === 'compaction') return writeCompaction(scribe, step, parent)
  countOther(step, scribe.losses)
  return parent
}

const writeMessage = (scribe: Scribe, step: MessageStep, parent: string | null): string | null => {
  const { members, key } = step
  const { losses } = scribe
  if (members.role === 'system') losses.add('system messages', key)
  else if (members.aside === true) losses.add('asides', key)
  else if (members.role === 'assistant') return writeAnswer(scribe, step, parent)
  else if (members.context === false) losses.add('kept from the model', key)
  else return writePrompt(scribe, step, parent)
  return parent
}

const writePrompt = (
  scribe: Scribe,
  { key, at, members }: MessageStep,
  parent: string | null,
): string | null => {
  const { losses } = scribe
  if (isNothing(members.content)) {
    losses.add('empty messages', key)
    return parent
  }
  if (members.meta !== undefined) losses.add('marks', key)
  return add(scribe, key, at, parent, async () => {
    const { content } = await scribe.session.resolve({ content: members.content })
    return {
      type: 'user',
      message: { role: 'user', content: userContent(content, { losses, key }) },
      ...(members.visible === false ? { isMeta: true } : {}),
    }
  })
}

const writeResult = (
  scribe: Scribe,
  { key, at, members, call, caller }: ResultStep,
  parent: string | null,
): string | null => {
  const { losses, session } = scribe
  const id = call === null ? members.toolCallId : scribe.calls.idOf(caller ?? '', call.id)
  if (members.timing !== undefined) losses.add('timing', key)
  if (members.context === false) losses.add('kept from the model', key)
  const ok = typeof members.ok === 'boolean' ? { is_error: !members.ok } : {}
  return add(scribe, key, at, parent, async () => {
    const { content } = await session.resolve({
      content: members.context === false ? '[removed]' : (members.content ?? ''),
    })
    const block = {
      type: 'tool_result',
      tool_use_id: id,
      content: userContent(content, { losses, key }),
      ...ok,
    }
    return { type: 'user', message: { role: 'user', content: [block] } }
  })
}

const writeCompaction = (
  scribe: Scribe,
  { key, at, members }: CompactionStep,
  parent: string | null,
): string => {
  const { losses, session } = scribe
  const { usage, model, prompt } = members
  if ([usage, model, prompt].some((made) => made !== undefined)) losses.add('compactions', key)
  const { tokensBefore, tokensAfter, trigger } = members
  const record = async (): Promise<Json> => ({
    type: 'system',
    subtype: 'compact_boundary',
    logicalParentUuid: parent,
    content: 'Conversation compacted',
    isMeta: false,
    level: 'info',
    compactMetadata: {
      trigger: trigger === 'auto' ? 'auto' : 'manual',
      preTokens: typeof tokensBefore === 'number' ? tokensBefore : 0,
      ...(typeof tokensAfter === 'number' ? { postTokens: tokensAfter } : {}),
    },
  })
  const boundary = add(scribe, `${key}#boundary`, at, null, record, parent)
  return add(scribe, key, at, boundary, async () => {
    const { summary } = await session.resolve({ summary: members.summary })
    return {
      type: 'user',
      isCompactSummary: true,
      isVisibleInTranscriptOnly: true,
      message: { role: 'user', content: userContent(summary ?? '', { losses, key }) },
    }
  })
}
