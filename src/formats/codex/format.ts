import { createReadStream } from 'node:fs'
import { basename, isAbsolute, join } from 'node:path'
import type { Readable } from 'node:stream'
import * as zlib from 'node:zlib'
import { findFiles, firstRecords } from '../find.js'
import type { Format, Item, Surroundings } from '../format.js'
import { parseJsonl } from '../jsonl.js'
import { recordsIn } from '../records.js'
import { isObject } from '../remainder.js'
import { Remarks } from '../remarks.js'
import { codexRecord, itemTypes, looksLikeRecord } from './record.js'
import { Rollout } from './rollout.js'
import { indexOf, nameKey, threadName } from './titles.js'
import { codexWriter } from './write.js'

const folders = ({ home, env }: Surroundings): readonly string[] => {
  const root = env.CODEX_HOME || join(home, '.codex')
  return isAbsolute(root) ? [join(root, 'sessions'), join(root, 'archived_sessions')] : []
}

const types = new Set([
  'session_meta',
  'response_item',
  'event_msg',
  'turn_context',
  'compacted',
  'world_state',
])

/** A line of a rollout: in its envelope, or bare as in the oldest ones. */
const isLine = (value: unknown): boolean => {
  if (!isObject(value)) return false
  const { type, payload } = value
  if (isObject(payload) && types.has(type as string)) return true
  if (type === undefined)
    return 'instructions' in value && typeof value.id === 'string' && typeof value.timestamp === 'string'
  if (!itemTypes.has(type as string) || 'message' in value || 'uuid' in value) return false
  return (
    typeof value.call_id === 'string' ||
    (Array.isArray(value.content) && value.content.some(isTyped)) ||
    Array.isArray(value.summary)
  )
}

const isTyped = (block: unknown): boolean =>
  isObject(block) && ['input_text', 'output_text', 'input_image'].includes(block.type as string)

const isCompressed = (path: string): boolean => path.endsWith('.jsonl.zst')

const detect = (path: string, start: string): boolean =>
  isCompressed(path) ? basename(path).startsWith('rollout-') : firstRecords(start).some(isLine)

async function* read(source: string): AsyncGenerator<Item> {
  const remarks = new Remarks()
  const rollout = new Rollout(source, remarks)
  try {
    const lines = parseJsonl(bytesOf(source), { isRecord: looksLikeRecord })
    for await (const found of recordsIn(lines, { remarks, noun: 'record' })) {
      if (found.kind === 'failed') yield found
      else yield* rollout.take(codexRecord(found))
    }
  } catch (error) {
    yield { kind: 'failed', line: null, reason: (error as Error).message }
  }
  yield* nameNote(source, rollout)
  yield* remarks.items()
}

/** Node reads zstd from 22.15 on; its types here are of the oldest version that Coppice runs on. */
const bytesOf = (source: string): Readable => {
  if (!isCompressed(source)) return streamOf(source)
  const { createZstdDecompress } = zlib as { createZstdDecompress?: () => NodeJS.ReadWriteStream }
  if (createZstdDecompress === undefined)
    throw new Error(
      `compressed with zstd, which Node ${process.versions.node} cannot read: run \`zstd -d\` on a copy, or Node 22.15 or later`,
    )
  const bytes = streamOf(source)
  const plain = createZstdDecompress()
  bytes.on('error', (error) => (plain as unknown as Readable).destroy(error))
  return bytes.pipe(plain) as unknown as Readable
}

const streamOf = (source: string): Readable => createReadStream(source, { highWaterMark: 256 * 1024 })

async function* nameNote(source: string, { thread }: Rollout): AsyncGenerator<Item> {
  const title = thread === null ? null : await threadName(source, thread.session)
  if (thread === null || title === null) return
  yield thread.annotate({
    key: nameKey(thread.session, title),
    type: 'title',
    payload: { title, by: 'import' },
  })
}

const isNamed = (name: string): boolean => name.endsWith('.jsonl') || isCompressed(name)

/** Codex: `sessions/<year>/<month>/<day>/rollout-<time>-<thread>.jsonl`, a chain; `archived_sessions/` is flat. */
export const codex: Format = {
  name: 'codex',
  title: 'Codex',
  folders,
  find: (path) => findFiles(path, detect, { isNamed }),
  finding: { isNamed },
  detect,
  beside: (source) => [indexOf(source) ?? []].flat(),
  read,
  writer: codexWriter,
}
