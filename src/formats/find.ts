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

/** A log of Coppice's own: a store may lie below a folder that is looked through. */
const isOwnLog = (start: string): boolean => /^\{"id":"[0-9a-f]{32}","parent":null,"at":"/.test(start)

/** Which files are looked into, by their names (`.jsonl` where it is left out), and which folders are entered. */
export interface Finding {
  readonly isNamed?: (name: string) => boolean
  readonly isEntered?: (name: string, siblings: readonly string[]) => boolean
}

/**
 * The path itself where it is a file; below a folder, each file that is named so and `isWanted` by its path and start,
 * sorted so that `a.jsonl` comes before `a/…`. Links are followed, each folder is entered once.
 */
export const findFiles = async (
  path: string,
  isWanted: (path: string, start: string) => boolean,
  finding: Finding = {},
): Promise<readonly string[]> => {
  const at = await stat(path).catch(() => null)
  if (at === null) return []
  if (!at.isDirectory()) return at.isFile() ? [path] : []
  const found: string[] = []
  await walk(path, new Set(), finding, async (file) => {
    const start = await startOf(file)
    if (!isOwnLog(start) && isWanted(file, start)) found.push(file)
  })
  return found.sort()
}

const walk = async (
  folder: string,
  seen: Set<string>,
  finding: Finding,
  visit: (file: string) => Promise<void>,
): Promise<void> => {
  const real = await realpath(folder).catch(() => null)
  if (real === null || seen.has(real)) return
  seen.add(real)
  const { isNamed = (name: string) => name.endsWith('.jsonl'), isEntered = () => true } = finding
  const names = (await readdir(folder).catch(() => [])).sort()
  for (const name of names) {
    const path = join(folder, name)
    const at = await stat(path).catch(() => null)
    if (at?.isDirectory()) {
      if (isEntered(name, names)) await walk(path, seen, finding, visit)
    } else if (at?.isFile() && isNamed(name)) await visit(path)
  }
}
