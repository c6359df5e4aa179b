import { parsedJson } from '../members.js'
import { isObject } from '../remainder.js'
import type { Losses } from '../write/losses.js'
import { newLine } from '../write/whole.js'
import type { Outgoing, WrittenFile } from '../writer.js'

/** A thread, and the session that it is of. */
export interface Named {
  readonly id: string
  readonly session: Outgoing
}

/** `session_index.jsonl`: the names of threads, where the newest line counts. null where none has one. */
export const titlesFile = (threads: readonly Named[], losses: Losses): WrittenFile | null => {
  const named = threads.filter(({ session }) => session.title !== null)
  if (named.length === 0) return null
  const merge = async (existing: string | null): Promise<string> => {
    let text = existing ?? ''
    for (const { id, session } of named) {
      const { title } = await session.resolve({ title: session.title })
      if (nameIn(text, id) === title) continue
      const gap = text === '' || text.endsWith('\n') ? '' : '\n'
      const line = { id, thread_name: title, updated_at: timeOf(session) }
      text += `${gap}${newLine(line, losses, `${session.id}#title`)}`
    }
    return text
  }
  return { name: 'session_index.jsonl', content: () => nothing(), merge }
}

async function* nothing(): AsyncGenerator<string> {}

/** When it was named last. */
const timeOf = ({ events }: Outgoing): string =>
  (events.findLast(({ type }) => type === 'title') ?? events.at(-1))?.at ?? ''

/** Lines that are no JSON stay where they are, and name nothing. */
const nameIn = (text: string, id: string): unknown =>
  text
    .split('\n')
    .map(parsedJson)
    .filter(isObject)
    .findLast((value) => value.id === id && value.thread_name !== undefined)?.thread_name
