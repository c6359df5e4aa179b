import type { Content } from '../../events/content.js'
import { textIn } from '../members.js'
import type { Json } from '../remainder.js'
import { contentOf, saidContent } from './blocks.js'

/** Entries and roles of Pi's own that speak to the model: what they say, and the members that say it. */
export interface Speech {
  readonly content: Content
  /** The members of the record that `content` tells whole, as a writer gives them. */
  readonly said: Json
}

/** What Pi tells the model of a `custom` or `hookMessage` message, and of a `custom_message` entry. */
export const customSpeech = (value: Json): Speech | null => {
  const content = contentOf(value.content)
  return content === null ? null : { content, said: { content: saidContent(content) } }
}

/** Of a branch that was left, or of what a compaction cut. */
export const summarySpeech = (value: Json): Speech | null => {
  const summary = textIn(value, 'summary')
  return summary === null ? null : { content: summary, said: { summary } }
}

/** A command that the user ran; null where the model is not to know. */
export const commandSpeech = (message: Json): Speech | null => {
  if (message.excludeFromContext === true) return null
  const { command, output, exitCode, cancelled, truncated } = message
  const lines = [
    `The user ran \`${String(command)}\`:`,
    typeof output === 'string' && output !== '' ? `\`\`\`\n${output}\n\`\`\`` : '(no output)',
    ...(cancelled === true ? ['(cancelled)'] : []),
    ...(typeof exitCode === 'number' && exitCode !== 0 ? [`(exit code ${exitCode})`] : []),
    ...(truncated === true ? ['(output truncated)'] : []),
  ]
  return { content: lines.join('\n'), said: {} }
}
