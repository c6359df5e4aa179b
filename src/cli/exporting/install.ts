import { isUtf8 } from 'node:buffer'
import { appendFile, readFile, realpath, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { Refused } from '../../events/errors/refused.js'
import type { Written, WrittenFile } from '../../formats/writer.js'
import { FileFailed } from '../errors/file-failed.js'
import { writeNewFile } from '../new-file.js'
import { bytesOf } from './written.js'

type Merge = NonNullable<WrittenFile['merge']>

/**
 * Puts a session where its agent looks: its own files first, none over another, then what sessions share. That is looked
 * at before anything is written, so that an index which cannot be read leaves all as it was. Where a file cannot be
 * written, those before it are taken away again.
 */
export const installFiles = async (written: Written, folder: string): Promise<void> => {
  for (const { name, merge } of written.files)
    if (merge !== undefined) await merged(join(folder, name), merge)
  const made: string[] = []
  try {
    for (const file of written.files) {
      if (file.merge !== undefined) continue
      const path = join(folder, file.name)
      await writeNewFile(path, false, bytesOf(file))
      made.push(path)
    }
    for (const { name, merge } of written.files)
      if (merge !== undefined) await share(join(folder, name), merge)
  } catch (error) {
    for (const path of made) await rm(path, { force: true }).catch(() => {})
    throw error
  }
}

interface Merged {
  readonly text: string
  /** What is there now, as its text reads; null where there is no such file. */
  readonly existing: string | null
}

const merged = async (path: string, merge: Merge): Promise<Merged> => {
  const bytes = await bytesAt(path)
  const existing = bytes?.toString() ?? null
  const text = await merge(existing)
  if (bytes !== null && !isUtf8(bytes) && !text.startsWith(existing ?? ''))
    throw new Refused(
      'the file holds bytes that are no UTF-8, which writing it anew would lose',
      path,
      'mend it or move it away, then export again',
    )
  return { text, existing }
}

/** A list that grows is only added to, so that what its agent adds meanwhile stays. */
const share = async (path: string, merge: Merge): Promise<void> => {
  const { text, existing } = await merged(path, merge)
  if (existing === null || !text.startsWith(existing)) {
    const target = await realpath(path).catch(() => path)
    await writeNewFile(target, true, whole(text))
  } else if (text !== existing) await added(path, text.slice(existing.length))
}

async function* whole(text: string): AsyncGenerator<Uint8Array> {
  yield Buffer.from(text)
}

const added = async (path: string, text: string): Promise<void> => {
  try {
    await appendFile(path, text, { flush: true })
  } catch (error) {
    throw new FileFailed('the file cannot be written', path, error)
  }
}

/** null where there is no such file. */
const bytesAt = async (path: string): Promise<Buffer | null> => {
  try {
    return await readFile(path)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null
    throw new FileFailed('the file cannot be read', path, error)
  }
}
