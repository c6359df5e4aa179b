import { basename, dirname, join } from 'node:path'
import { findFiles, firstRecords } from '../find.js'
import type { Format, Item } from '../format.js'
import { readJsonl } from '../jsonl.js'
import { recordsIn } from '../records.js'
import { isObject } from '../remainder.js'
import { Remarks } from '../remarks.js'
import { Conversation } from './conversation.js'
import { metadataOf, titleKey, titleOf } from './metadata.js'
import { workspaceOf } from './workspace-key.js'
import { zettcodeWriter } from './write.js'

const kinds = new Set(['session', 'message', 'compaction'])

const looksLikeRecord = (value: unknown): boolean =>
  isObject(value) &&
  kinds.has(value.kind as string) &&
  (typeof value.id === 'string' || typeof value.session_id === 'string')

const detect = (path: string, start: string): boolean =>
  basename(path) !== 'metadata.jsonl' &&
  firstRecords(start).some(
    (value) =>
      looksLikeRecord(value) &&
      isObject(value) &&
      (Array.isArray(value.message) || 'parent_session_id' in value),
  )

async function* read(source: string): AsyncGenerator<Item> {
  const remarks = new Remarks()
  const folder = dirname(source)
  const isNamed = basename(source) === 'data.jsonl'
  const session = basename(isNamed ? folder : source, '.jsonl')
  const workspace = isNamed ? workspaceOf(basename(dirname(folder))) : null
  if (workspace === null)
    remarks.add(session, "the folder's name holds no path (long ones are hashed): no workspace")
  const conversation = new Conversation(session, workspace, remarks)
  try {
    const lines = readJsonl(source, { isRecord: looksLikeRecord })
    for await (const found of recordsIn(lines, { remarks, session, noun: 'record' })) {
      if (found.kind === 'failed') yield found
      else yield* conversation.take(found)
    }
  } catch (error) {
    yield { kind: 'failed', line: null, reason: (error as Error).message }
  }
  yield* titleNote(source, session, conversation)
  yield* remarks.items()
}

async function* titleNote(source: string, session: string, { tip, at }: Conversation): AsyncGenerator<Item> {
  const title = tip === null ? null : await titleOf(source, session)
  if (title === null) return
  yield {
    kind: 'event',
    session,
    key: titleKey(session, title),
    parent: tip,
    at,
    type: 'title',
    payload: () => ({ title, by: 'import' }),
  }
}

/** ZettCode: `sessions/<workspace key>/<session>/data.jsonl`, a tree by `parent`; titles in `metadata.jsonl` above. */
export const zettcode: Format = {
  name: 'zettcode',
  title: 'ZettCode',
  folders: ({ home }) => [join(home, '.zettcode', 'sessions')],
  find: (path) => findFiles(path, detect),
  detect,
  beside: (source) => [metadataOf(source)],
  read,
  writer: zettcodeWriter,
}
