import { open, readdir, realpath, stat } from 'node:fs/promises'
import { join } from 'node:path'

/** How much of a file tells its format. */
const startBytes = 64 * 1024

/** The first 64 KiB of a file as text; '' where it cannot be read. */
export const startOf = async (path: string): Promise<string> => {
  try {
    const file = await open(path, 'r')
    try {
      const { buffer, bytesRead } = await file.read(Buffer.alloc(startBytes), 0, startBytes, 0)
      return buffer.toString('utf8', 0, bytesRead).replace(/^\uFEFF/, '')
    } finally {
      await file.close()
    }
  } catch {
    return ''
  }
}

/** The values of the first lines of a file that are whole and parse. */
export const firstRecords = (start: string): unknown[] =>
  start
    .split('\n')
    .slice(0, 50)
    .flatMap((line) => {
      try {
        return [JSON.parse(line) as unknown]
      } catch {
        return []
      }
    })

/**
 * The path itself where it is a file; below a folder, each file that `isWanted` by its path and start, sorted so that
 * `a.jsonl` comes before `a/…`. Links are followed, each folder is entered once.
 */
export const findFiles = async (
  path: string,
  isWanted: (path: string, start: string) => boolean,
): Promise<readonly string[]> => {
  const at = await stat(path).catch(() => null)
  if (at === null) return []
  if (!at.isDirectory()) return at.isFile() ? [path] : []
  const found: string[] = []
  await walk(path, new Set(), async (file) => {
    if (isWanted(file, await startOf(file))) found.push(file)
  })
  return found.sort()
}

const walk = async (
  folder: string,
  seen: Set<string>,
  visit: (file: string) => Promise<void>,
): Promise<void> => {
  const real = await realpath(folder).catch(() => null)
  if (real === null || seen.has(real)) return
  seen.add(real)
  for (const name of (await readdir(folder).catch(() => [])).sort()) {
    const path = join(folder, name)
    const at = await stat(path).catch(() => null)
    if (at?.isDirectory()) await walk(path, seen, visit)
    else if (at?.isFile() && name.endsWith('.jsonl')) await visit(path)
  }
}
