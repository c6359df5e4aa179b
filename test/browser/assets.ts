import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { PageAssets } from '../../src/export/html/report.js'
import { entry } from '../cli/coppice.js'

const built = (name: string): string => readFileSync(join(dirname(entry), 'report', name), 'utf8')

/** The page's script and styles, as they were built. */
export const builtAssets = (): PageAssets => ({ script: built('page.js'), style: built('page.css') })
