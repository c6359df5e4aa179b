import { describe, expect, it } from 'vitest'
import { projectFiles, read } from './pages.js'

/** The adapters: the log on files, and what knows Node. */
const adapters = /^src\/events\/(file-log\/|node-fs\.ts|system\.ts)/
const core = projectFiles().filter(
  (path) => /^src\/(events|projections)\/.*\.ts$/.test(path) && !adapters.test(path),
)

const withoutComments = (source: string): string =>
  source.replace(/\/\*[\s\S]*?\*\//g, '').replace(/\/\/.*$/gm, '')

/** `new Date(value)` is a conversion; `new Date()` reads the clock. */
const impure =
  /Date\.now|new Date\(\)|Math\.random|randomBytes|randomUUID|performance\.|process\.(env|cwd|argv|hrtime|platform)|setTimeout|setInterval|from '(node:)?(fs|os|child_process|net|http|https|timers|worker_threads)/

describe('INV-10: the core is pure', () => {
  it.each(core)('%s neither reads a clock, nor a random source, nor the environment, nor a file', (path) => {
    expect(impure.exec(withoutComments(read(path)))?.[0]).toBeUndefined()
  })
})
