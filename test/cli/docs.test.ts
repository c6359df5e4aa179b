import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { firstWords } from '../../src/cli/completion/words.js'
import { commands, globalOptions } from '../../src/cli/table.js'
import { formats } from '../../src/formats/registry.js'

const text = readFileSync(new URL('../../docs/CLI.md', import.meta.url), 'utf8')
const sectionOf = (name: string): string =>
  text.split(/^### /m).find((section) => section.startsWith(`\`coppice ${name}`)) ?? ''

describe('docs/CLI.md', () => {
  const here = commands.filter(({ later, hidden }) => later !== true && hidden !== true)
  it.each(here.map((command) => [command.name, command] as const))('has all of %s', (name, command) => {
    const section = sectionOf(name)
    expect(section, 'a section').not.toBe('')
    expect(section).toContain(command.example)
    for (const { flags, text: said } of command.options ?? []) {
      expect(section).toContain(`\`${flags.replace('|', '\\|')}\``)
      expect(section).toContain(said)
    }
  })
  it('names what is not there yet', () => {
    const later = text.slice(text.indexOf('## Not in this version yet'))
    for (const { name, later: isLater } of commands)
      if (isLater === true) expect(later).toContain(`\`coppice ${name}`)
  })
  it('has the options of every command', () => {
    for (const { flags } of globalOptions) expect(text).toContain(`\`${flags.replace('|', '\\|')}\``)
  })
  it('and the completion name the formats that can be imported', () => {
    const names = formats.map(({ name }) => name)
    expect(firstWords.import?.split(' ')).toEqual(['auto', ...names])
    for (const name of names) expect(sectionOf('import')).toContain(`\`${name}\``)
  })
})
