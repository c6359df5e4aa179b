import { spawnSync } from 'node:child_process'
import {
  chmodSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  renameSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it, vi } from 'vitest'
import { nodeFs } from '../../src/events/node-fs.js'
import { openStore } from '../../src/session/store/store.js'
import { assistant, draftLines, entry, place, sessionWith, user } from './coppice.js'

/** What others may use of a store: `mode path`, for every file and folder that is not 0600 or 0700 (0400 and 0500 too). */
const opened = (store: string): readonly string[] =>
  ['', ...readdirSync(store, { recursive: true, encoding: 'utf8' })].flatMap((name) => {
    const { mode } = lstatSync(join(store, name))
    return (mode & 0o077) === 0 ? [] : [`${(mode & 0o777).toString(8)} ${name}`]
  })

describe.each(['000', '077'])('with umask %s', (umask) => {
  it('everything in the store is for its owner alone, over a whole life of a session', () => {
    const { store, workspace } = place()
    const run = (args: readonly string[], input = ''): string => {
      const script = `umask ${umask}; exec "$0" "$@"`
      const env = { PATH: process.env.PATH, HOME: store, COPPICE_HOME: store }
      const ran = spawnSync('sh', ['-c', script, process.execPath, entry, ...args], {
        cwd: workspace,
        env,
        input,
      })
      expect([args[0], ran.status, ran.stderr.toString()]).toEqual([args[0], 0, ran.stderr.toString()])
      return ran.stdout.toString().trim()
    }
    writeFileSync(join(workspace, 'a.txt'), 'one')
    const session = run(['new', '--track', 'workspace'])
    writeFileSync(join(store, 'config.toml'), 'redact = "write"\n', { mode: 0o600 })
    const ids = run(
      ['append', session],
      draftLines(user('x'.repeat(100_000)), assistant('password="b4tteryStaple1"'), user('more')),
    ).split('\n')
    writeFileSync(join(workspace, 'a.txt'), 'two')
    run(['checkpoint', session])
    run(['undo', session, ids.at(-1) as string])
    run(['search', 'more'])
    run(['list'])
    run(['fork', session])
    run(['export', session, 'jsonl', join(workspace, 'out.jsonl')])
    run(['redact', session, ids[0] as string])
    run(['archive', session])
    run(['gc'])
    expect(opened(store)).toEqual([])
    run(['unarchive', session])
    expect(opened(store)).toEqual([])
  })
})

describe('a store', () => {
  it('that others may write to is refused, with what to do', () => {
    const at = place()
    sessionWith(at, user('one'))
    for (const mode of [0o777, 0o770, 0o720]) {
      chmodSync(at.store, mode)
      const ran = at.run(['list'])
      expect([ran.code, ran.err]).toEqual([1, expect.stringContaining(`chmod go-w ${at.store}`)])
    }
    chmodSync(at.store, 0o755)
    expect(at.run(['list']).code).toBe(0)
  })

  it('that belongs to someone else is refused, but not to root', async () => {
    const { store } = place()
    mkdirSync(store, { mode: 0o700 })
    const fs = {
      ...nodeFs,
      stat: (path: string) => {
        const stat = nodeFs.stat(path)
        return stat === null ? null : { ...stat, uid: 4242 }
      },
    }
    const user = vi.spyOn(process, 'geteuid')
    user.mockReturnValue(1000)
    await expect(openStore(store, { fs })).rejects.toMatchObject({ tag: 'StoreUnusable' })
    user.mockReturnValue(0)
    await openStore(store, { fs })
    user.mockRestore()
  })
})

describe('a symlink in a store', () => {
  /** A session, and the same file or folder moved out of the store, with a link to it in its place. */
  const linked = (which: (session: string) => string) => {
    const at = place()
    const { session } = sessionWith(at, user('x'.repeat(100_000)), assistant('two'))
    const [key = ''] = readdirSync(join(at.store, 'projects'))
    const path = join(at.store, 'projects', which(session).replace('KEY', key))
    const outside = join(at.folder, 'outside')
    renameSync(path, outside)
    symlinkSync(outside, path)
    return { ...at, session, path, outside }
  }
  const contents = (path: string): readonly string[] =>
    lstatSync(path).isDirectory() ? readdirSync(path, { recursive: true, encoding: 'utf8' }).sort() : []

  it.each([
    ['a log', (id: string) => join('KEY', id, 'data.jsonl')],
    ['a folder of blobs', (id: string) => join('KEY', id, 'blobs')],
    ['a folder of presence', (id: string) => join('KEY', id, 'presence')],
    ['a session', (id: string) => join('KEY', id)],
    ['a workspace', () => 'KEY'],
  ])('in the place of %s is not followed, and told by verify', (_, which) => {
    const { run, session, outside } = linked(which)
    const before = contents(outside)
    const appended = run(['append', session], { input: draftLines(user('y'.repeat(100_000))) })
    expect(appended.code).not.toBe(0)
    const verified = run(['verify', '--json'])
    expect(verified.code).toBe(4)
    expect((verified.json() as { problems: { kind: string }[] }).problems.map(({ kind }) => kind)).toContain(
      'symlink',
    )
    expect(contents(outside)).toEqual(before)
  })

  it('in the place of the archive is not followed', () => {
    const at = place()
    const { session } = sessionWith(at, user('one'))
    const [key = ''] = readdirSync(join(at.store, 'projects'))
    const outside = join(at.folder, 'outside')
    mkdirSync(join(outside, session), { recursive: true })
    symlinkSync(outside, join(at.store, 'projects', key, 'archive'))
    expect(at.run(['archive', session]).err).toContain('symlink')
    expect(at.run(['archive', '--purge']).err).toContain('symlink')
    expect(readdirSync(outside)).toEqual([session])
  })

  it('to the whole store is the user’s own choice', () => {
    const at = place()
    sessionWith(at, user('one'))
    const link = join(at.folder, 'link')
    symlinkSync(at.store, link)
    expect(at.run(['--store', link, 'list', '--json']).json()).toHaveLength(1)
  })
})

describe('names from outside never become a path', () => {
  it('whatever they are', async () => {
    const at = place()
    const { session } = sessionWith(at, user('one'))
    writeFileSync(join(at.folder, 'data.jsonl'), 'not yours')
    const store = await openStore(at.store)
    const { key } = await store.find(session)
    const log = store.home.log(join(at.store, 'projects', key))
    const names = [
      '..',
      '../..',
      `../${session}`,
      '/etc',
      `${session}/../${session}`,
      '',
      '.',
      `${session}\0`,
      'A'.repeat(32),
    ]
    for (const name of names) {
      await expect(store.find(name)).rejects.toMatchObject({ tag: 'NotFound' })
      await expect(store.unarchive(name)).rejects.toMatchObject({ tag: 'NotFound' })
      const reading = async () => {
        for await (const lines of log.readForward(name)) expect(lines).toEqual([])
      }
      await expect(reading()).rejects.toMatchObject({ tag: 'NotFound' })
      const ref = { $blob: name, bytes: 9, as: 'text' } as const
      await expect(log.blobs.get(session, ref)).rejects.toMatchObject({ tag: 'NotFound' })
    }
    store.close()
  })
})

describe('a blob', () => {
  it('that is not as large as the line says is not read, however large either is', async () => {
    const at = place()
    const { session } = sessionWith(at, user('x'.repeat(100_000)))
    const [key = ''] = readdirSync(join(at.store, 'projects'))
    const folder = join(at.store, 'projects', key, session, 'blobs')
    const [name = ''] = readdirSync(folder)
    const store = await openStore(at.store)
    const { blobs } = store.home.log(join(at.store, 'projects', key))
    const get = (bytes: number) => blobs.get(session, { $blob: name, bytes, as: 'text' })
    expect((await get(100_000)).length).toBe(100_000)
    for (const bytes of [0, 99_999, Number.MAX_SAFE_INTEGER])
      await expect(get(bytes)).rejects.toMatchObject({ tag: 'Damaged' })
    // A file with a hole of a terabyte takes no room on the disk.
    rmSync(join(folder, name))
    writeFileSync(join(folder, name), '')
    truncateSync(join(folder, name), 2 ** 40)
    await expect(get(2 ** 40)).rejects.toMatchObject({ tag: 'Damaged' })
    store.close()
  })
})
