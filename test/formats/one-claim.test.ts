import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { startOf } from '../../src/formats/find.js'
import { formats } from '../../src/formats/registry.js'
import { corpusFiles, corpusFolder } from './corpus.js'

const claims = async (path: string): Promise<string[]> => {
  const start = await startOf(path)
  return formats.flatMap((format) => (format.detect(path, start) ? [format.name] : []))
}

describe('a file of one format', () => {
  it.each(['claude', 'codex', 'gemini', 'pi', 'acp'])(
    'is claimed by that format alone: %s (real files; none without the corpus)',
    async (name) => {
      for (const file of corpusFiles(name))
        expect(await claims(join(corpusFolder(name), file)), file).toEqual([name])
    },
  )

  it('is claimed by that format alone: samples and fixtures', async () => {
    for (const folder of ['../../samples', '../fixtures']) {
      const path = fileURLToPath(new URL(folder, import.meta.url))
      for (const { name, find } of formats)
        for (const source of await find(path))
          if (!/exported|damaged/.test(source)) expect(await claims(source), source).toEqual([name])
    }
  })

  it.skipIf(!existsSync(corpusFolder('opencode')))(
    'leaves the files beside OpenCode sessions alone',
    async () => {
      const claimed: string[] = []
      for (const file of corpusFiles('opencode'))
        if ((await claims(join(corpusFolder('opencode'), file))).length > 0) claimed.push(file)
      expect(claimed.every((file) => file.includes('/session/'))).toBe(true)
      expect(claimed).toHaveLength(3)
    },
  )
})
