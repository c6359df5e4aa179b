import { createInflate } from 'node:zlib'
import type { FileHandle } from '../../events/ports.js'

const chunk = 256 * 1024

/**
 * Inflates what begins at an offset of a file, piece by piece, until it ends: memory stays bounded however large it is.
 * What follows it in the file is left alone.
 */
export async function* inflateFrom(file: FileHandle, offset: number): AsyncGenerator<Buffer> {
  const inflate = createInflate({ chunkSize: chunk })
  let position = offset
  let isDone = false
  const feed = (): void => {
    if (isDone) return
    try {
      const buffer = Buffer.allocUnsafe(chunk)
      const read = file.read(buffer, 0, chunk, position)
      position += read
      if (read === 0) inflate.end()
      else inflate.write(buffer.subarray(0, read), (error) => (error ? undefined : feed()))
    } catch (error) {
      inflate.destroy(error as Error)
    }
  }
  inflate.once('end', () => {
    isDone = true
  })
  feed()
  try {
    for await (const piece of inflate) yield piece as Buffer
  } finally {
    isDone = true
    inflate.destroy()
  }
}
