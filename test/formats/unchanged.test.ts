import {
  appendFileSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, describe, expect, it } from 'vitest'
import { formats } from '../../src/formats/registry.js'
import { importSources } from '../../src/session/import.js'
import { openStore } from '../../src/session/store/store.js'

/** A source that is as it was is not read again; one of which any file changed is. */

const root = mkdtempSync(join(tmpdir(), 'coppice-unchanged-'))
afterAll(() => rmSync(root, { recursive: true }))
const at = (path: string): string => fileURLToPath(new URL(`../../${path}`, import.meta.url))

/** Long ago: what was written just now may be written to again within the same tick. */
const long = new Date('2026-01-01T00:00:00Z')
const age = (path: string): void => {
  if (statSync(path).isDirectory()) for (const name of readdirSync(path)) age(join(path, name))
  utimesSync(path, long, long)
}
/** As another program leaves a file that it writes to, a while ago. */
const touch = (path: string, text = ' '): void => {
  appendFileSync(path, text)
  utimesSync(path, long, new Date(long.getTime() + 5000))
}

const folders: Readonly<Record<string, string>> = {
  claude: 'samples/claude',
  codex: 'test/fixtures/codex',
  pi: 'test/fixtures/pi',
  gemini: 'test/fixtures/gemini',
  opencode: 'test/fixtures/opencode',
  deepcode: 'samples/deepcode',
  zettcode: 'samples/zettcode',
  acp: 'test/fixtures/acp',
}

const copies = async (name: string) => {
  const format = formats.find((one) => one.name === name)
  if (format === undefined) throw new Error(`no format ${name}`)
  const folder = join(root, name)
  cpSync(at(folders[name] ?? ''), folder, { recursive: true })
  age(folder)
  const sources = (await format.find(folder)).map((path) => ({ format, path }))
  const store = join(root, `${name}-store`)
  const unchanged = async (): Promise<readonly string[]> => {
    const opened = await openStore(store)
    try {
      const report = await importSources(opened, sources, { workspace: root })
      return report.sources.filter((source) => source.unchanged).map(({ source }) => source)
    } finally {
      await opened.close()
    }
  }
  return { format, sources, unchanged }
}

describe.each(formats.map(({ name }) => name))('sources of %s', (name) => {
  it('are not read again while nothing changed, and are where a file that belongs to them did', async () => {
    const { format, sources, unchanged } = await copies(name)
    const stamped = sources.map(({ path }) => path).filter((path) => path.startsWith(root))
    expect(stamped.length).toBeGreaterThan(0)
    expect(await unchanged()).toEqual([])
    const kept = await unchanged()
    expect(kept.length).toBeGreaterThan(0)
    const most = kept.toSorted((a, b) => format.beside(b).length - format.beside(a).length)
    const [source = ''] = most
    const beside = new Map(format.beside(source).map((path) => [dirname(path), path]))
    for (const path of [source, ...beside.values()]) {
      if (!exists(path)) {
        mkdirSync(dirname(path), { recursive: true })
        writeFileSync(path, '')
        utimesSync(path, long, long)
      } else if (statSync(path).isDirectory()) {
        writeFileSync(join(path, 'new.json'), '{}')
        age(path)
        utimesSync(path, long, new Date(long.getTime() + 9000))
      } else touch(path)
      expect(await unchanged(), basename(path)).not.toContain(source)
      expect(await unchanged(), basename(path)).toContain(source)
    }
  })
})

const exists = (path: string): boolean => statSync(path, { throwIfNoEntry: false }) !== undefined
