// @ts-check
/** The library as it was built, with the types of its source: this file is checked also where nothing was built yet. */
import { readdirSync } from 'node:fs'
import { basename, join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'

const built = fileURLToPath(new URL('../dist', import.meta.url))

/** @type {typeof import('../src/index.js')} */
export const coppice = await import(pathToFileURL(join(built, 'index.js')).href)

const onDemand = new Set(['opening.js', 'creating.js', 'verify.js'])

/** Loads what the store else loads when it is first asked for: libraries are loaded outside every time. */
export async function loadAll() {
  const session = join(built, 'session')
  for (const path of readdirSync(session, { recursive: true, encoding: 'utf8' }))
    if (onDemand.has(basename(path))) await import(pathToFileURL(join(session, path)).href)
}
