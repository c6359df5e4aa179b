import { dirname, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { dist, ensureBuilt } from '../../scripts/built.mjs'
import type { Store } from '../../src/index.js'

if (!ensureBuilt()) throw new Error('the build failed')

/** The library as it is published, for the programs that are tested and for those who look at what they left. */
export const library = join(dist, 'index.js')
export const engine = (await import(
  /* @vite-ignore */ pathToFileURL(library).href
)) as typeof import('../../src/index.js')

export const opened = (path: string): Promise<Store> => engine.openStore(path, { userHome: dirname(path) })
