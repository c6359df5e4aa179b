import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { readConfig } from '../../src/cli/config.js'
import { newFolder } from './folders.js'

const folderWith = (text: string): string => {
  const folder = newFolder()
  writeFileSync(join(folder, 'config.toml'), text)
  return folder
}

describe('config.toml', () => {
  it('may be absent, as may its folder', async () => {
    expect(await readConfig('/nonexistent/folder')).toEqual({})
  })
  it('says what it may say', async () => {
    const folder = folderWith('color = false\n[context]\nformat = "plain"\n[list]\nlimit = 5\n')
    expect(await readConfig(folder)).toMatchObject({
      color: false,
      context: { format: 'plain' },
      list: { limit: 5 },
    })
  })
  it.each([
    ['color = "no"', /color should be true or false/],
    ['colour = true', /unknown key colour/],
    ['[list]\nlimit = -1', /list.limit should be a whole number/],
    ['list = 3', /list should be a table/],
    ['color = ', /config.toml, line 1/],
  ])('%j is refused in one line', async (text, message) => {
    await expect(readConfig(folderWith(text))).rejects.toThrow(message)
    await expect(readConfig(folderWith(text))).rejects.not.toThrow(/\n/)
  })
  it('that cannot be read is told', async () => {
    const folder = newFolder()
    mkdirSync(join(folder, 'config.toml'))
    await expect(readConfig(folder)).rejects.toThrow(/configuration cannot be read \(EISDIR\)/)
  })
})
