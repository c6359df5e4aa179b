import { dirname, join } from 'node:path'
import type { Ports } from '../system.js'

/**
 * Makes a folder inside one that is there, where it is not yet. `makeDir` would make the outer one again where it has
 * gone meanwhile (a session that went to the archive), and a session's folder without a log is damage. So the folder is
 * made beside, and renamed into its place. Throws the system's error; ENOENT: the outer one is gone.
 */
export const makeInside = (path: string, { fs, random }: Pick<Ports, 'fs' | 'random'>): void => {
  if (fs.stat(path) !== null) return
  const beside = join(dirname(dirname(path)), `.new-${random.hex(8)}`)
  fs.makeDir(beside)
  try {
    fs.rename(beside, path)
  } catch (error) {
    fs.remove(beside)
    // Someone else made it just now.
    if (fs.stat(path) === null) throw error
  }
}
