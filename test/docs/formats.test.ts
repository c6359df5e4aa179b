import { describe, expect, it } from 'vitest'
import { formats } from '../../src/formats/registry.js'
import { headingsOf, read } from './pages.js'

const text = read('docs/FORMATS.md')

describe('docs/FORMATS.md', () => {
  it.each(formats.map(({ name, title }) => [name, title]))('has a section on %s', (name, title) => {
    expect(headingsOf(text)).toContain(title)
    expect(text).toContain(`(\`${name}\`)`)
  })

  it.each(formats.map(({ title }) => title))('README says that %s can be imported', (title) => {
    const said = read('README.md')
      .split('\n')
      .find((line) => line.startsWith('| Import from') && line.endsWith('| yes |'))
    expect(said).toContain(title)
  })
})
