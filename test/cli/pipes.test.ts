import { spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, chownSync, readdirSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { draftLines, entry, place, sessionWith, startIn, user } from './coppice.js'

const asRoot = process.getuid?.() === 0

describe('output into a closed pipe', () => {
  it('ends whatever prints quietly', () => {
    const here = place()
    const { session } = sessionWith(here, ...Array.from({ length: 3000 }, (_, i) => user(`message ${i}`)))
    for (const command of ['list', 'log', 'show', 'context', 'tree', 'replay']) {
      const args = command === 'list' ? ['list'] : [command, session]
      const line = `"${process.execPath}" "${entry}" ${args.join(' ')} | head -c 10; echo "\${PIPESTATUS[0]}"`
      const { stdout, stderr } = spawnSync('bash', ['-c', line], {
        cwd: here.workspace,
        env: { ...process.env, COPPICE_STORE: here.store },
      })
      expect(String(stderr), command).toBe('')
      expect(String(stdout).slice(-2), command).toBe('0\n')
    }
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
    // By its id: `@` would be another event by the time that the watch has started.
    const { head } = here.run(['tree', session, '--json']).json() as { head: string }
    const child = startIn(here.store, ['watch', session, '--json', '--after', head])
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
  it('is refused in one line where there is no place for it', () => {
    const here = place()
    const file = join(here.folder, 'file')
    writeFileSync(file, '')
    const { code, out, err } = here.run(['new', '--store', join(file, 'store')])
    expect({ code, out }).toEqual({ code: 1, out: '' })
    expect(err).toMatch(/^coppice: [^\n]+\n$/)
  })

  it('is still read; writing says so', () => {
    const here = place()
    const { session } = sessionWith(here, user('kept'))
    // Permissions bind nobody but root.
    const nobody = asRoot ? 65534 : undefined
    for (const path of [here.folder, here.workspace, ...pathsIn(here.store)]) {
      if (nobody !== undefined) chownSync(path, nobody, nobody)
      chmodSync(path, statSync(path).isDirectory() ? 0o500 : 0o400)
    }
    const run = (...args: string[]) => {
      const { status, stdout, stderr } = spawnSync(process.execPath, [entry, ...args], {
        cwd: here.workspace,
        env: { ...process.env, COPPICE_STORE: here.store, HOME: here.folder },
        ...(nobody === undefined ? {} : { uid: nobody, gid: nobody }),
      })
      return { code: status, out: String(stdout), err: String(stderr) }
    }
    try {
      if (run('--version').code !== 0) return // The checkout itself is closed to others.
      expect(JSON.parse(run('list', '--json').out)).toHaveLength(1)
      expect(JSON.parse(run('context', session).out)).toHaveLength(1)
      expect(run('verify')).toMatchObject({ code: 0, err: '' })
      for (const args of [['new'], ['title', session, 'x'], ['archive', session]])
        expect(run(...args)).toMatchObject({
          code: 1,
          out: '',
          err: expect.stringMatching(/^coppice: [^\n]+\n$/),
        })
    } finally {
      for (const path of pathsIn(here.store)) chmodSync(path, 0o700)
      for (const path of [here.folder, here.workspace]) chmodSync(path, 0o700)
    }
  })
})

/** A folder and all below it. */
const pathsIn = (path: string): readonly string[] =>
  statSync(path).isDirectory()
    ? [path, ...readdirSync(path).flatMap((name) => pathsIn(join(path, name)))]
    : [path]

describe('colour', () => {
  it('is never in what is no terminal', () => {
    const here = place()
    const { session } = sessionWith(here, user('hi'))
    for (const args of [['list'], ['tree', session], ['show', session], ['log', session]])
      expect(here.run(args, { env: { FORCE_COLOR: '1' } }).out).not.toContain('\x1b')
  })
})
