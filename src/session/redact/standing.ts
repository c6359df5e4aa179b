import { blobRefs } from '../../events/blob.js'
import type { BlobRef } from '../../events/content.js'
import { Damaged } from '../../events/errors/index.js'
import type { EventId } from '../../events/event.js'
import { eventOf } from '../../events/event-of.js'
import { forwardChunk } from '../../events/file-log/constants.js'
import { scanForward } from '../../events/file-log/scan.js'
import { damageOf, survey } from '../../events/file-log/survey.js'
import type { Line } from '../../events/line.js'
import type { FileHandle } from '../../events/ports.js'
import { tracesOf } from './copies.js'
import type { Standing } from './rewrite.js'

/**
 * Every event of a log, as its readers see it: without torn tail, named gaps, and the orphans of those. Throws Damaged
 * where anything else does not decode or link: a log is repaired before it is rewritten.
 */
export const standingIn = async (
  file: FileHandle,
  session: EventId,
  load: (ref: BlobRef) => Promise<Buffer>,
): Promise<readonly Standing[]> => {
  const standing: Standing[] = []
  for (const line of linesOf(file)) {
    const event = eventOf(line, session)
    standing.push({ line, event, traces: tracesOf(event, await namesInBlobs(event, load)) })
  }
  return standing
}

const linesOf = (file: FileHandle): readonly Line[] => {
  const found = survey(file)
  const gap = found.junk.find(({ kind }) => kind === 'gap')
  const damage = found.damage ?? (gap === undefined ? null : damageOf(gap))
  if (damage !== null) throw new Damaged(file.path, damage)
  const lines: Line[] = []
  for (const segments of scanForward(file, 0, forwardChunk))
    for (const { line } of segments)
      if (line !== null && !found.voids.has(line.offset))
        lines.push({ ...line, bytes: Buffer.from(line.bytes) })
  return lines
}

/** The blobs that blobs of JSON name. One that is missing names none. */
const namesInBlobs = async (
  value: unknown,
  load: (ref: BlobRef) => Promise<Buffer>,
): Promise<readonly string[]> => {
  const names: string[] = []
  for (const ref of blobRefs(value)) {
    if (ref.as !== 'json') continue
    const inner = await load(ref).then(
      (bytes) => JSON.parse(bytes.toString()) as unknown,
      () => null,
    )
    names.push(...blobRefs(inner).map(({ $blob }) => $blob), ...(await namesInBlobs(inner, load)))
  }
  return names
}
