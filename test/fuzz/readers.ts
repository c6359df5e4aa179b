import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { formats } from '../../src/formats/registry.js'
import { itemsOf, problemsOf } from '../formats/check-items.js'
import { Seeded } from '../sim/random.js'
import { mutated } from './mutations.js'
import { fuzz, type Tally, type Until } from './tally.js'

/** Where the fixtures are: beside this file, or in the folder that the bundle was made from. */
const root = process.env.COPPICE_ROOT ?? fileURLToPath(new URL('../..', import.meta.url))

/** Longer files are for other tests (bytes). */
const longest = 200_000

const filesBelow = (folder: string): readonly string[] =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))

interface Source {
  readonly path: string
  readonly bytes: Buffer
}

const sources = (): readonly Source[] =>
  [join(root, 'test/fixtures'), join(root, 'samples')]
    .flatMap(filesBelow)
    // Our own: no reader's.
    .filter((path) => !path.includes('format-1'))
    .sort()
    .map((path) => ({ path, bytes: readFileSync(path) }))
    .filter(({ bytes }) => bytes.length <= longest)

/** Whatever a file holds, a reader gives items that are fit to import, and never rejects. */
export const fuzzReaders = async (until: Until): Promise<Tally> => {
  const files = sources()
  const folder = mkdtempSync(join(tmpdir(), 'coppice-fuzz-'))
  try {
    return await fuzz(until, async (seed) => {
      const seeded = new Seeded(seed)
      const { path, bytes } = seeded.pick(files)
      const file = join(folder, basename(dirname(path)), basename(path))
      mkdirSync(dirname(file), { recursive: true })
      writeFileSync(file, mutated(bytes, seeded))
      const claimed = formats.filter(({ name }) => path.includes(name))
      const format = seeded.chance(0.2) || claimed.length === 0 ? seeded.pick(formats) : seeded.pick(claimed)
      format.detect(file, readFileSync(file).subarray(0, 65_536).toString())
      const problems = problemsOf(await itemsOf(format, file))
      if (problems.length > 0) throw new Error(`${format.name} of ${path}: ${problems[0]}`)
    })
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
