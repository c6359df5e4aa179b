import type { WrittenFile } from '../../formats/writer.js'

const chunkBytes = 256 * 1024

/** A file's bytes, gathered to larger pieces. */
export async function* bytesOf({ content }: WrittenFile): AsyncGenerator<Uint8Array> {
  let pieces: Uint8Array[] = []
  let size = 0
  for await (const piece of content()) {
    const bytes = typeof piece === 'string' ? Buffer.from(piece) : piece
    pieces.push(bytes)
    size += bytes.length
    if (size < chunkBytes) continue
    yield Buffer.concat(pieces)
    pieces = []
    size = 0
  }
  if (size > 0) yield Buffer.concat(pieces)
}

/** A shared file with this session in it. */
export async function* mergedText(
  merge: NonNullable<WrittenFile['merge']>,
  existing: string | null,
): AsyncGenerator<Uint8Array> {
  yield Buffer.from(await merge(existing))
}
