import { spawnSync } from 'node:child_process'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { blocksOf, read } from '../docs/pages.js'
import { newUser, run } from '../docs/users.js'

/** What is another one with each run: ids and commits, and how long ago. */
const masked = (text: string): string =>
  text.replace(/\b[0-9a-f]{32}\b/g, '<id>').replace(/\b[0-9a-f]{8}\b/g, '<short>')

describe('docs/CHECKPOINTS.md', () => {
  it('shows what the commands of its example print', () => {
    const blocks = blocksOf(read('docs/CHECKPOINTS.md')).filter(({ language }) => language === 'console')
    const shown = blocks.map(({ text }) => text).join('')
    expect(blocks).toHaveLength(2)
    const { folder, env } = newUser()
    mkdirSync(join(folder, 'src'))
    writeFileSync(join(folder, 'src', 'login.ts'), 'const tries = 3\n')
    const commands = shown.split('\n').flatMap((line) => (line.startsWith('$ ') ? [line.slice(2)] : []))
    const script = commands.map(
      (command) => `printf '%s\n' '$ ${command.replaceAll("'", "'\\''")}'\n${command}\n`,
    )
    const ran = spawnSync('sh', ['-c', `exec 2>&1\n${script.join('')}`], {
      cwd: folder,
      env,
      encoding: 'utf8',
    })
    expect(masked(ran.stdout)).toBe(masked(shown))
  })
})

describe('README', () => {
  it('has a script that takes an edit back, and brings it again', () => {
    const script =
      blocksOf(read('README.md')).find(({ text }) => text.includes('--reason before-tool'))?.text ?? ''
    const user = newUser()
    const file = join(user.folder, 'src', 'login.ts')
    mkdirSync(join(user.folder, 'src'))
    writeFileSync(file, 'const tries = 3\n')
    const stop = script.indexOf('coppice redo')
    const undone = spawnSync('sh', ['-e', '-c', `${script.slice(0, stop)}cat src/login.ts`], {
      cwd: user.folder,
      env: user.env,
      encoding: 'utf8',
    })
    expect(undone.stdout).toMatch(/\nchange {4}src\/login\.ts\n[\s\S]*\nAllow five tries\nconst tries = 3\n$/)
    writeFileSync(file, 'const tries = 3\n')
    run({ ...user, env: { ...user.env } }, 'sh', ['-e', '-c', `exec 2> /dev/null\n${script}`])
    expect(readFileSync(file, 'utf8')).toBe('const tries = 5\n')
  })
})
