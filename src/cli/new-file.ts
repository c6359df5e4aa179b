import { link, open, rename, stat } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { ensureDir, remove } from 'fs-extra'
import { FileFailed } from './errors/file-failed.js'
import { Usage } from './errors/usage.js'

/**
 * Writes a file whole or not at all: into a temporary one beside it, synced, then put in place. Parents are made. A file
 * that is there is replaced only with `force`. Readable by its owner alone (INV-12).
 */
export const writeNewFile = async (
  path: string,
  force: boolean,
  chunks: AsyncIterable<Uint8Array>,
): Promise<void> => {
  if (!force && (await stat(path).catch(() => undefined)) !== undefined) throw exists(path)
  const making = join(dirname(path), `.${basename(path)}.${process.pid}.tmp`)
  try {
    await ensureDir(dirname(path))
    const file = await open(making, 'wx', 0o600)
    try {
      for await (const chunk of chunks) await writeWhole(file, chunk)
      await file.sync()
    } finally {
      await file.close()
    }
    await (force ? rename(making, path) : putInPlace(making, path))
  } catch (error) {
    await remove(making).catch(() => {})
    throw isSystemError(error) ? new FileFailed('the file cannot be written', path, error) : error
  }
}

type File = Awaited<ReturnType<typeof open>>

const writeWhole = async (file: File, chunk: Uint8Array): Promise<void> => {
  for (let at = 0; at < chunk.length; ) at += (await file.write(chunk, at)).bytesWritten
}

/** A link, unlike a rename, never replaces a file that came in between. */
const putInPlace = async (made: string, path: string): Promise<void> => {
  try {
    await link(made, path)
    await remove(made)
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'EEXIST') throw exists(path)
    // A file system without links.
    await rename(made, path)
  }
}

const exists = (path: string): Usage => new Usage('the file exists', path, 'give another name, or --force')

const isSystemError = (error: unknown): boolean => (error as { syscall?: unknown }).syscall !== undefined
