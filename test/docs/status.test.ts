import { describe, expect, it } from 'vitest'
import { commands } from '../../src/cli/table.js'
import { read } from './pages.js'

const rows = (read('README.md').split('## What is there, and what is not yet')[1] ?? '')
  .split('\n')
  .filter((line) => line.startsWith('| '))

/** Which row of README's table tells of a command. */
const told: readonly (readonly [command: string, row: string])[] = [
  ['undo', 'undo and redo'],
  ['verify', '`verify`'],
  ['doctor', '`doctor`'],
  ['context', 'The context'],
  ['import', 'Import from Claude'],
  ['checkpoint', 'Code checkpoints'],
  ['search', 'Full-text search'],
  ['redact', 'Redaction'],
  ['gc', '`gc`'],
  ['push', '`push`'],
  ['chat', 'interactive shell'],
]

describe("README's table of what is there", () => {
  it.each(told)('says of %s what the command line says', (name, row) => {
    const command = commands.find((one) => one.name === name)
    const line = rows.find((text) => text.includes(row))
    expect(line, row).toBeDefined()
    expect(line?.includes('not yet')).toBe(command?.later === true)
  })
})
