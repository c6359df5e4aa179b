import { StoreUnusable } from '../errors/index.js'
import type { Fs } from '../ports.js'

/**
 * Refuses a folder of the store that is a symlink: whoever put it there decides what is written where it leads (INV-12).
 * Files are opened without following one (node-fs.ts).
 */
export const refuseLink = (fs: Fs, path: string): void => {
  if (fs.isLink?.(path) === true)
    throw new StoreUnusable(
      'this is a symlink, and may lead out of the store',
      path,
      'put what it leads to in its place',
    )
}
