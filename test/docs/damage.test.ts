import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { headingsOf, read, root } from './pages.js'

const text = read('docs/DAMAGE.md')
const kinds = new Set(headingsOf(text))

const quoted = (source: string, pattern: RegExp): readonly string[] =>
  [...source.matchAll(pattern)].map(([, name = '']) => name)

describe('docs/DAMAGE.md', () => {
  it('has an entry for every kind of damage', () => {
    const declared = read('src/events/errors/damaged.ts')
      .split('export type DamageKind =')[1]
      ?.split('\n\n')[0]
    const names = quoted(declared ?? '', /'([a-z-]+)'/g)
    expect(names.length).toBeGreaterThan(5)
    expect(names.filter((name) => !kinds.has(name))).toEqual([])
  })

  it('has an entry for every kind of problem that verify gives', () => {
    const names = [
      ...quoted(read('src/session/store/verify.ts'), /problem\(\s*'([a-z-]+)'/g),
      ...['verify-place.ts', 'verify-code.ts'].flatMap((name) =>
        quoted(read(`src/session/store/${name}`), /'((?:symlink|permissions)|[a-z]+-[a-z-]+)'/g),
      ),
    ].filter((name) => name !== 'file-history')
    expect(names.length).toBeGreaterThan(9)
    expect(names).toEqual(expect.arrayContaining(['workspace-unknown', 'checkpoint-missing']))
    expect(names.filter((name) => !kinds.has(name))).toEqual([])
  })

  it('has an entry for every problem that keeps a log from being read', () => {
    const names = quoted(read('src/session/store/problem-kind.ts'), /'([a-z]+-[a-z-]+)'/g)
    expect(names.length).toBeGreaterThan(1)
    expect(names.filter((name) => !kinds.has(name))).toEqual([])
  })

  it('gives each entry a next step', () => {
    const entries = text.split(/^### /m).slice(1)
    const without = entries.filter((entry) => !/next step/i.test(entry)).map((entry) => entry.split('\n')[0])
    expect(without).toEqual([])
  })

  it('explains the tag of every error', () => {
    const folders = ['src/events/errors', 'src/cli/errors']
    const sources = folders.flatMap((folder) =>
      readdirSync(join(root, folder)).map((name) => read(join(folder, name))),
    )
    const tags = sources.flatMap((source) => quoted(source, /readonly tag = '(\w+)'/g))
    expect(tags.length).toBeGreaterThan(10)
    expect(tags.filter((tag) => !text.includes(`| \`${tag}\` |`))).toEqual([])
  })
})
