import type { PlainMessage } from '../projections/shapes.js'

/** The model's context as a person reads it: `role: text`, a call or a result on lines of its own. Not yet safe to print. */
export function* plainContext(messages: readonly PlainMessage[]): Generator<string> {
  const names = new Map<string, string>()
  for (const message of messages) {
    const { role, content, toolCalls = [], toolCallId, refusal } = message
    const calls = toolCalls.map(({ name, arguments: given }) => `→ ${name} ${given}`.trimEnd())
    for (const { id, name } of toolCalls) names.set(id, name)
    const said = [content, refusal ?? '', ...calls].filter((text) => text !== '')
    const about = toolCallId === undefined ? '' : ` ${names.get(toolCallId) ?? toolCallId}`
    const failed = message.ok === false ? ' failed' : ''
    yield `${role}${about}${failed}: ${said.join('\n')}`.trimEnd()
  }
}
