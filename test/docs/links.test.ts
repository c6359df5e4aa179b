import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { anchorOf, headingsOf, linksOf, pages, read, root } from './pages.js'

const isThere = (page: string, link: string): boolean => {
  const [path = '', anchor] = link.split('#')
  const target = path === '' ? page : join(dirname(page), path)
  if (!existsSync(join(root, target))) return false
  if (anchor === undefined || !target.endsWith('.md')) return true
  return headingsOf(read(target)).some((heading) => anchorOf(heading) === anchor)
}

describe('the documentation', () => {
  it.each(pages)('%s: every link leads to a file, and to a heading in it', (page) => {
    const broken = linksOf(read(page)).filter((link) => !isThere(page, link))
    expect(broken).toEqual([])
  })

  it('lists every decision', () => {
    const index = read('docs/decisions/README.md')
    const missing = pages
      .filter((page) => /decisions\/\d/.test(page))
      .filter((page) => !index.includes(`(${page.replace('docs/decisions/', '')})`))
    expect(missing).toEqual([])
  })

  it.each(pages.filter((page) => /decisions\/\d/.test(page)))('%s has its three parts', (page) => {
    for (const part of ['**Context.**', '**Decision.**', '**Consequence.**'])
      expect(read(page)).toContain(part)
  })
})
