import { access } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { sha256 } from '../../events/id.js'
import { readJsonl } from '../jsonl.js'
import { isObject } from '../remainder.js'

/** The list of the workspace that a session stands in. */
export const metadataOf = (source: string): string => join(dirname(dirname(source)), 'metadata.jsonl')

/** A session's title in the workspace's `metadata.jsonl`: the last one, unless the session was begun again after it. */
export const titleOf = async (source: string, session: string): Promise<string | null> => {
  const path = metadataOf(source)
  const exists = await access(path).then(
    () => true,
    () => false,
  )
  if (!exists) return null
  let title: string | null = null
  for await (const found of readJsonl(path, {
    isRecord: (value) => isObject(value) && typeof value.kind === 'string',
  })) {
    const {
      kind,
      session_id: id,
      title: given,
    } = found.kind === 'record' && isObject(found.value) ? found.value : {}
    if (id !== session) continue
    if (kind === 'session') title = null
    if (kind === 'title' && typeof given === 'string') title = given
  }
  const cut = [...(title ?? '').trim()].slice(0, 200).join('').trim()
  return cut === '' ? null : cut
}

/** The key of a title note: named by what it says, so that a later import adds one only where it changed. */
export const titleKey = (session: string, title: string): string =>
  `${session}#title:${sha256(title).slice(0, 16)}`
