import { chmodSync, mkdirSync, readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import type { Facts } from '../../src/cli/doctor/facts.js'
import { type Finding, findingsOf, type State } from '../../src/cli/doctor/findings.js'
import { place, sessionWith, user } from './coppice.js'

interface Screen {
  readonly state: State
  readonly findings: readonly Finding[]
}
const screenOf = (at: ReturnType<typeof place>): Screen & { readonly code: number | null } => {
  const ran = at.run(['doctor', '--json'])
  return { ...(ran.json() as Screen), code: ran.code }
}
const find = ({ findings }: Screen, check: string): Finding | undefined =>
  findings.find((finding) => finding.check === check)

const logOf = (store: string): string =>
  join(
    store,
    readdirSync(store, { recursive: true, encoding: 'utf8' }).find((name) => name.endsWith('/data.jsonl')) ??
      '',
  )

describe('coppice doctor', () => {
  it('says that all is well where there is no store yet, and makes none', () => {
    const at = place()
    const ran = at.run(['doctor'])
    expect(ran.code).toBe(0)
    expect(ran.out).toContain('none yet')
    expect(ran.out).toMatch(/\nall is well\n$/)
    expect(readdirSync(at.folder)).toEqual([])
  })

  it('of a sound store says so, a line a check on one screen', () => {
    const at = place()
    sessionWith(at, user('hi'))
    const ran = at.run(['doctor'])
    expect(ran.code).toBe(0)
    const lines = ran.out.trimEnd().split('\n')
    expect(lines.length).toBeLessThan(24)
    expect(lines.slice(0, -2).filter((line) => !line.startsWith('ok '))).toEqual([])
    const screen = screenOf(at)
    expect(screen.state).toBe('ok')
    expect(find(screen, 'verify')?.says).toContain('1 session, 2 events')
    expect(find(screen, 'locks')?.state).toBe('ok')
    expect(readdirSync(join(at.store, 'projects')).filter((name) => name.startsWith('.'))).toEqual([])
  })

  it('names damage by its kinds, with the next step, and exits 4', () => {
    const at = place()
    sessionWith(at, user('hi'), user('there'))
    const path = logOf(at.store)
    writeFileSync(path, readFileSync(path, 'utf8').replace('"hi"', '"ho"'))
    const screen = screenOf(at)
    expect(screen.code).toBe(4)
    expect(screen.state).toBe('bad')
    expect(find(screen, 'verify')).toMatchObject({
      state: 'bad',
      says: '2 problems: missing-parent 1, undecodable 1',
      next: 'coppice verify',
    })
    expect(at.run(['doctor']).out).toContain('→ coppice verify')
  })

  it('runs where the configuration cannot be read, and says which key', () => {
    const at = place()
    sessionWith(at, user('hi'))
    writeFileSync(join(at.store, 'config.toml'), 'colour = 1\n')
    expect(at.run(['list']).code).toBe(1)
    const screen = screenOf(at)
    expect(screen.code).toBe(1)
    expect(find(screen, 'config')).toMatchObject({ state: 'bad' })
    expect(find(screen, 'config')?.says).toContain('unknown key colour')
    expect(find(screen, 'verify')?.state).toBe('ok')
  })

  it('tells of a store that others may write to, and reads nothing of it', () => {
    const at = place()
    sessionWith(at, user('hi'))
    chmodSync(at.store, 0o777)
    const screen = screenOf(at)
    expect(screen.code).toBe(1)
    expect(find(screen, 'store')).toMatchObject({ state: 'bad', next: `chmod go-w ${at.store}` })
    expect(find(screen, 'verify')).toBeUndefined()
  })

  it('tells of a restore that was cut off, of a workspace that is gone, and of what a dead process left', () => {
    const at = place()
    const { session } = sessionWith(at, user('hi'))
    const folder = join(logOf(at.store), '../..')
    mkdirSync(join(folder, 'file-history/journal'), { recursive: true, mode: 0o700 })
    writeFileSync(join(folder, 'file-history/journal/0011.json'), '{}', { mode: 0o600 })
    mkdirSync(join(folder, session, 'presence'), { recursive: true, mode: 0o700 })
    writeFileSync(join(folder, session, 'presence/1-00.json'), '{}', { mode: 0o600 })
    renameSync(at.workspace, `${at.workspace}-moved`)
    const ran = at.run(['doctor', '--json', '-w', at.folder], { cwd: at.folder })
    const screen = ran.json() as Screen
    expect(ran.code).toBe(0)
    expect(screen.state).toBe('warn')
    expect(find(screen, 'restores')).toMatchObject({ state: 'warn' })
    expect(find(screen, 'restores')?.says).toContain(at.workspace)
    expect(find(screen, 'workspaces')?.says).toContain(`1 no longer there: ${at.workspace}`)
    expect(find(screen, 'sessions')?.says).toContain('1 mark of processes that are gone')
  })
})

const sound: Facts = {
  node: { version: '20.19.0', range: '>=20.19.0', fits: true },
  native: null,
  config: { path: '/s/config.toml', isThere: true, fault: null },
  store: { path: '/s', isThere: true, mode: 0o700, isOwn: true, free: 5e9, fault: null },
  locks: { kind: 'work' },
  health: {
    sessions: 2,
    workspaces: [{ path: '/w', sessions: 2, isThere: true }],
    held: 0,
    swept: 0,
    interrupted: [],
    unfinished: [],
    archive: { sessions: 1, copies: 2, copyBytes: 500 },
    indexed: 2,
    search: 4096,
  },
  use: {
    sessions: [
      {
        session: 'a',
        workspace: '/w',
        archived: true,
        log: 1000,
        blobs: 0,
        checkpoints: 0,
        code: 0,
        ownCode: 0,
      },
    ],
    workspaces: [{ workspace: '/w', code: 3e9, unreached: 1e9, why: null }],
    caches: 0,
  },
  verified: { sessions: 2, events: 9, bytes: 900, problems: [], diverged: [], redacted: 0 },
  workspace: '/w',
  movedFrom: [],
}

describe('what doctor makes of what it found', () => {
  const judged = (facts: Partial<Facts>, check: string): Finding | undefined =>
    findingsOf({ ...sound, ...facts }).find((finding) => finding.check === check)

  it.each<[string, Partial<Facts>, string, State, string | null]>([
    ['an old Node.js', { node: { ...sound.node, fits: false } }, 'node', 'bad', 'install a newer Node.js'],
    [
      'a native module that does not load',
      { native: 'wrong ELF class' },
      'native',
      'bad',
      'install again, on this machine',
    ],
    [
      'a full disk',
      { store: { ...sound.store, free: 1000 } },
      'disk',
      'warn',
      'free some space: appends fail on a full disk, and lose nothing',
    ],
    [
      'locks that do nothing',
      { locks: { kind: 'fail', why: 'a lock that is held is given again' } },
      'locks',
      'bad',
      'keep the store on a local disk: two writers would not see each other',
    ],
    [
      'a store on a read-only disk',
      { locks: { kind: 'read-only', why: 'EROFS' } },
      'locks',
      'warn',
      'reading works; check the permissions of the store to write',
    ],
    [
      'a workspace that moved',
      { movedFrom: ["/it's"] },
      'workspaces',
      'warn',
      "coppice relocate '/it'\\''s' /w",
    ],
    ['much that gc frees', {}, 'space', 'warn', 'coppice gc'],
    [
      'a part that fails',
      { use: { message: 'no object: /s', next: 'get it back', tag: 'ObjectDamaged' } },
      'space',
      'bad',
      'get it back',
    ],
  ])('of %s', (_, facts, check, state, next) => {
    expect(judged(facts, check)).toMatchObject({ state, next })
  })

  it('weighs the archive with the logs that were replaced', () => {
    expect(judged({}, 'archive')?.says).toBe(
      '1 session, 2 old logs, 1.5 kB (coppice archive --purge removes it for good)',
    )
  })
})
