import { describe, expect, it } from 'vitest'
import { headingsOf, projectFiles, read } from './pages.js'

const text = read('docs/INVARIANTS.md')
const known = headingsOf(text).flatMap((heading) => /^INV-\d+/.exec(heading)?.[0] ?? [])
const sources = projectFiles().filter((path) => /^(src|test|scripts|bench)\/.*\.(ts|mjs)$/.test(path))

describe('docs/INVARIANTS.md', () => {
  it('has the invariants 1 to 12', () => {
    expect(known).toEqual(Array.from({ length: 12 }, (_, i) => `INV-${i + 1}`))
  })

  it('has every invariant that the code cites', () => {
    const cited = sources.flatMap((path) =>
      [...read(path).matchAll(/INV-\d+/g)].map(([name]) => ({ path, name })),
    )
    expect(cited.length).toBeGreaterThan(20)
    expect(cited.filter(({ name }) => !known.includes(name))).toEqual([])
  })

  it('names files that are there', () => {
    const named = [...text.matchAll(/`((?:src|test)\/[^`\s]+)`/g)].map(([, path = '']) => path)
    const files = projectFiles()
    const missing = named.filter((path) => !files.some((file) => file === path || file.startsWith(path)))
    expect(named.length).toBeGreaterThan(24)
    expect(missing).toEqual([])
  })

  it('names tests that are there, word for word', () => {
    const tests = sources
      .filter((path) => path.startsWith('test/'))
      .map(read)
      .join('\n')
    const laws = sources
      .filter((path) => path.startsWith('src/contract/'))
      .map(read)
      .join('\n')
    const named = [...text.matchAll(/“([^”]+)”/g)].map(([, title = '']) => title)
    expect(named.length).toBeGreaterThan(12)
    expect(named.filter((title) => !`${tests}\n${laws}`.includes(title))).toEqual([])
  })
})
