import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Written } from '../../formats/writer.js'
import { FileFailed } from '../errors/file-failed.js'
import { writeNewFile } from '../new-file.js'
import { bytesOf, mergedText } from './written.js'

/**
 * Puts a session where its agent looks: its own files first, none over another, then what sessions share. That is looked
 * at before anything is written, so that an index which cannot be read leaves all as it was.
 */
export const installFiles = async (written: Written, folder: string): Promise<void> => {
  for (const { name, merge } of written.files) await merge?.(await textOf(join(folder, name)))
  for (const file of written.files)
    if (file.merge === undefined) await writeNewFile(join(folder, file.name), false, bytesOf(file))
  for (const { name, merge } of written.files) {
    if (merge === undefined) continue
    const path = join(folder, name)
    await writeNewFile(path, true, mergedText(merge, await textOf(path)))
  }
}

/** null where there is no such file. */
const textOf = async (path: string): Promise<string | null> => {
  try {
    return await readFile(path, 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null
    throw new FileFailed('the file cannot be read', path, error)
  }
}
