import { spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { draftLines, entry, place, sessionWith, startIn, user } from './coppice.js'

const asRoot = process.getuid?.() === 0

describe('output into a closed pipe', () => {
  it.each(['log', 'show', 'context', 'list', 'tree', 'replay'])('ends %s quietly', (command) => {
    const here = place()
    const { session } = sessionWith(here, ...Array.from({ length: 3000 }, (_, i) => user(`message ${i}`)))
    const args = command === 'list' ? ['list'] : [command, session]
    const line = `"${process.execPath}" "${entry}" ${args.join(' ')} | head -c 10; echo "\${PIPESTATUS[0]}"`
    const { stdout, stderr } = spawnSync('bash', ['-c', line], {
      cwd: here.workspace,
      env: { ...process.env, COPPICE_STORE: here.store },
    })
    expect(String(stderr)).toBe('')
    expect(String(stdout).slice(-2)).toBe('0\n')
  })

  it('does not stop append: every draft is stored', () => {
    const here = place()
    const session = here.run(['new']).out.trim()
    const line = `"${process.execPath}" "${entry}" append ${session} | head -n 1`
    const { stderr } = spawnSync('bash', ['-c', line], {
      cwd: here.workspace,
      env: { ...process.env, COPPICE_STORE: here.store },
      input: draftLines(...Array.from({ length: 5000 }, (_, i) => user(`message ${i} ${'x'.repeat(100)}`))),
    })
    expect(String(stderr)).toBe('')
    expect(here.run(['context', session]).json()).toHaveLength(5000)
  })
})

describe('watch', () => {
  it('gives each event as it comes, byte for byte, until it is interrupted (130)', async () => {
    const here = place()
    const { session } = sessionWith(here, user('before'))
    const child = startIn(here.store, ['watch', session, '--json', '--after', '@'])
    let printed = ''
    child.stdout.on('data', (data) => {
      printed += data
    })
    for (const text of ['one', 'two', 'three'])
      here.run(['append', session], { input: draftLines(user(text)) })
    while (printed.split('\n').length < 4) await new Promise((resolve) => setTimeout(resolve, 20))
    child.kill('SIGINT')
    const [code] = await once(child, 'exit')
    expect(code).toBe(130)
    const log = here.run(['log', session, '--json']).out.trimEnd().split('\n').toReversed()
    expect(printed.trimEnd().split('\n')).toEqual(log.slice(2))
  })
})

describe('a store that cannot be written', () => {
  it.skipIf(asRoot)('is still read; writing says so', () => {
    const here = place()
    const { session } = sessionWith(here, user('kept'))
    for (const folder of foldersIn(here.store)) chmodSync(folder, 0o500)
    try {
      expect(here.run(['list', '--json']).json()).toHaveLength(1)
      expect(here.run(['context', session]).json()).toHaveLength(1)
      expect(here.run(['verify']).code).toBe(0)
      const { code, err } = here.run(['new'])
      expect(code).toBe(1)
      expect(err).toMatch(/^coppice: [^\n]+\n$/)
    } finally {
      for (const folder of foldersIn(here.store)) chmodSync(folder, 0o700)
    }
  })
})

const foldersIn = (folder: string): readonly string[] => [
  folder,
  ...readdirSync(folder)
    .map((name) => join(folder, name))
    .filter((path) => statSync(path).isDirectory())
    .flatMap(foldersIn),
]

describe('colour', () => {
  it('is never in what is no terminal', () => {
    const here = place()
    const { session } = sessionWith(here, user('hi'))
    for (const args of [['list'], ['tree', session], ['show', session], ['log', session]])
      expect(here.run(args, { env: { FORCE_COLOR: '1' } }).out).not.toContain('\x1b')
  })
})
