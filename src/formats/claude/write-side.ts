import type { Event } from '../../events/event.js'
import { isObject, type Json } from '../remainder.js'
import { isOwn } from '../write/own.js'
import type { Outgoing, WrittenFile } from '../writer.js'

/** The files of `tool-results/` that a session's own lines name, in `folder`: each as it was read (side-files.ts). */
export const outputFiles = (session: Outgoing, format: string, folder: string): readonly WrittenFile[] => {
  const files = new Map<string, WrittenFile>()
  for (const event of session.events) {
    const output = fullOutputOf(event, format)
    if (output === null || !isPlainName(output.file) || files.has(output.file)) continue
    const name = `${folder}/tool-results/${output.file}`
    files.set(output.file, { name, content: () => contentOf(session, output) })
  }
  return [...files.values()]
}

const fullOutputOf = (event: Event, format: string): Json | null => {
  const { meta } = event
  if (event.role !== 'tool' || !isObject(meta) || !isOwn(event, format)) return null
  return isObject(meta.fullOutput) ? meta.fullOutput : null
}

/** What a log says never becomes a path unchecked (INV-12). */
const isPlainName = (name: unknown): name is string =>
  typeof name === 'string' && /^[^\s\\/"'<>]{1,200}$/.test(name) && !/^\.+$/.test(name)

async function* contentOf(session: Outgoing, output: Json): AsyncGenerator<string | Uint8Array> {
  const { text, base64 } = await session.resolve(output)
  if (typeof text === 'string') yield text
  else if (typeof base64 === 'string') yield Buffer.from(base64, 'base64')
}
