import { symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import * as testing from '../../src/testing.js'
import { blocksOf, read, root } from './pages.js'
import { newUser, run } from './users.js'

const page = read('docs/TESTING.md')
const examples = blocksOf(page).filter(({ language }) => language === 'js')

describe('docs/TESTING.md', () => {
  it.each(examples.map(({ text }) => [/^\/\/ (\S+)/.exec(text)?.[1] ?? '', text]))(
    'has an example %s that runs as it stands, from the published entry alone',
    (name, text) => {
      expect(name).toMatch(/\.test\.mjs$/)
      const user = newUser()
      writeFileSync(join(user.folder, 'package.json'), '{"private":true}')
      symlinkSync(join(root, 'node_modules/fast-check'), join(user.folder, 'node_modules/fast-check'), 'dir')
      writeFileSync(join(user.folder, name), text)
      const out = run(user, process.execPath, ['--test', '--test-reporter=tap', name])
      expect(out).toMatch(/^# fail 0$/m)
      expect(Number(/^# pass (\d+)$/m.exec(out)?.[1])).toBeGreaterThan(0)
    },
  )

  it('names everything that the entry gives', () => {
    const names = Object.keys(testing)
    expect(names.length).toBeGreaterThan(10)
    expect(names.filter((name) => !page.includes(name))).toEqual([])
  })
})
