import { spawn, spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { blocksOf, read } from './pages.js'
import { newUser, run, type User } from './users.js'

const readme = read('README.md')
const exampleIn = (language: string, word: string): string => {
  const found = blocksOf(readme).find((block) => block.language === language && block.text.includes(word))
  if (found === undefined) throw new Error(`README has no ${language} example with ${word}`)
  return found.text
}

const saidIn = (user: User, session: string): readonly string[] =>
  (JSON.parse(run(user, 'coppice', ['context', session])) as { content: string }[]).map(
    ({ content }) => content,
  )

const onlySession = (user: User): string =>
  (JSON.parse(run(user, 'coppice', ['list', '--json'])) as { session: string }[])[0]?.session ?? ''

describe('README', () => {
  it('has the two commands that everyone needs', () => {
    expect(readme).toMatch(/^npm ci && npm start\b/m)
    expect(readme).toMatch(/^npm ci && npm test\b/m)
  })

  it('has a program of no more than 15 lines that does what it says', () => {
    const user = newUser()
    const program = exampleIn('js', 'openStore')
    expect(program.split('\n').filter((line) => line.trim() !== '').length).toBeLessThanOrEqual(15)
    writeFileSync(join(user.folder, 'example.mjs'), program)
    const out = run(user, process.execPath, ['example.mjs'])
    expect(out).toContain('How many files are here?')
    expect(out.trimEnd().split('\n').at(-1)).toBe('2 How many files are here?')
  })

  it('has a shell script that keeps a history', async () => {
    const user = newUser()
    const script = exampleIn('sh', 'coppice append')
    const printed = await runUntil(user, script, (out) => out.includes('About half.'))
    expect(printed).toContain('[{"role":"user","content":"How full is the disk?"}]')
    const watched = printed
      .split('\n')
      .flatMap((line) => (line.startsWith('{"id"') ? [JSON.parse(line)] : []))
    expect(watched.map(({ type }: { type: string }) => type)).toEqual(['title', 'message', 'message'])
    expect(saidIn(user, onlySession(user))).toEqual(['How full is the disk?', 'About half.'])
  })

  // A machine without Python has the shell's example to go by.
  const hasPython = spawnSync('python3', ['--version']).status === 0
  if (hasPython)
    it('has a Python program that keeps a history', () => {
      const user = newUser()
      writeFileSync(join(user.folder, 'example.py'), `${exampleIn('python', 'Popen')}\nprint(messages)\n`)
      const out = run(user, 'python3', ['-W', 'ignore', 'example.py'])
      expect(out).toContain("[{'role': 'user', 'content': 'How full is the disk?'}]")
      expect(saidIn(user, onlySession(user))).toEqual(['How full is the disk?', 'About half.'])
    })
})

describe('docs/LIBRARY.md', () => {
  it('is one program that does what it says', () => {
    const user = newUser()
    const program = blocksOf(read('docs/LIBRARY.md')).filter(({ language }) => language === 'js')
    writeFileSync(join(user.folder, 'agent.mjs'), program.map(({ text }) => text).join('\n'))
    const out = run(user, process.execPath, ['agent.mjs']).trimEnd().split('\n')
    expect(out).toEqual([
      ...['new', 'change workspace/a.txt', 'old', 'new'],
      ...['try-two true', 'main false'],
      '2',
      'Write a.txt pending',
      ...['null', 'tool', 'assistant', 'user'],
      'true',
    ])
  })
})

/** Runs a script whose last command goes on, until it has printed enough; then interrupts it. */
const runUntil = (
  { folder, env }: User,
  script: string,
  isEnough: (out: string) => boolean,
): Promise<string> =>
  new Promise((resolve, reject) => {
    const shell = spawn('sh', ['-e'], { cwd: folder, env, detached: true })
    let out = ''
    let err = ''
    const stop = (): void => {
      if (shell.pid !== undefined) process.kill(-shell.pid, 'SIGINT')
    }
    shell.stdout.on('data', (chunk) => {
      out += chunk
      if (isEnough(out)) stop()
    })
    shell.stderr.on('data', (chunk) => {
      err += chunk
    })
    shell.on('error', reject)
    shell.on('close', () =>
      isEnough(out) && err === '' ? resolve(out) : reject(new Error(`${out}\n${err}`)),
    )
    shell.stdin.end(script)
  })
