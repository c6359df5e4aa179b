import { spawnSync } from 'node:child_process'
import {
  appendFileSync,
  chmodSync,
  cpSync,
  mkdirSync,
  readFileSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { entry, place, startIn } from './coppice.js'

interface Report {
  readonly imported: readonly {
    source: string
    session: string
    events: number
    new: number
    notes: readonly string[]
  }[]
  readonly failed: readonly { source: string; line: number | null; reason: string }[]
}

/** A record of Claude Code's, as its sessions have them. */
const record = (
  uuid: string,
  parentUuid: string | null,
  type: 'user' | 'assistant',
  text: string,
  cwd = '/home/someone/app',
) =>
  `${JSON.stringify({
    parentUuid,
    isSidechain: false,
    userType: 'external',
    cwd,
    sessionId: '0c3b9f7e-5a0d-4a7e-9d52-0f0e5d1f0001',
    version: '2.0.0',
    type,
    message:
      type === 'user'
        ? { role: 'user', content: text }
        : {
            role: 'assistant',
            id: `msg_${uuid}`,
            model: 'claude-x',
            content: [{ type: 'text', text }],
            usage: { input_tokens: 10, output_tokens: 2 },
          },
    uuid,
    timestamp: `2026-12-01T09:00:0${uuid.slice(-1)}.000Z`,
  })}\n`

const source = (folder: string): string => {
  const projects = join(folder, '.claude/projects/-home-someone-app')
  mkdirSync(projects, { recursive: true })
  const file = join(projects, '0c3b9f7e-5a0d-4a7e-9d52-0f0e5d1f0001.jsonl')
  writeFileSync(
    file,
    record('u1', null, 'user', 'list files') + record('a2', 'u1', 'assistant', 'there are none'),
  )
  return file
}

interface Sources {
  readonly sources: readonly {
    source: string
    format: string
    unchanged: boolean
    lines: Record<string, number>
  }[]
}

/** As it was written long ago. */
const settle = (file: string): void => utimesSync(file, new Date(1e12), new Date(1e12))

/** The command before a program that takes root's rights away, where the tests run as root. */
const asNobody = process.getuid?.() === 0 ? ['setpriv', '--bounding-set=-all', '--inh-caps=-all'] : []

describe('import of much, and of what is no session', () => {
  it('does not read a source again that did not change, and says the same of it', () => {
    const here = place()
    const file = source(here.folder)
    appendFileSync(file, 'no JSON at all\n')
    settle(file)
    const run = () => here.run(['import', 'auto', here.folder, '--json']).json() as Report & Sources
    const first = run()
    const second = run()
    expect(first.sources).toMatchObject([{ source: file, format: 'claude', unchanged: false }])
    expect(first.sources[0]?.lines).toMatchObject({ total: 3, carried: 2, failed: 1, unaccounted: 0 })
    expect(second.sources).toEqual([{ ...first.sources[0], unchanged: true }])
    expect(second.failed).toEqual(first.failed)
    expect(second.imported).toEqual(first.imported.map((row) => ({ ...row, new: 0 })))
    appendFileSync(file, record('u3', 'a2', 'user', 'then make one'))
    expect(run()).toMatchObject({ imported: [{ new: 1 }], sources: [{ unchanged: false }] })
  })

  it('reads an unchanged source again where its session is gone, or what is kept of it is wrong', () => {
    const here = place()
    const file = source(here.folder)
    settle(file)
    const run = () => here.run(['import', 'auto', here.folder, '--json']).json() as Report & Sources
    const [{ session, events } = { session: '', events: 0 }] = run().imported
    expect(run().sources[0]?.unchanged).toBe(true)
    here.run(['delete', session])
    expect(run()).toMatchObject({ imported: [{ session, new: events }], sources: [{ unchanged: false }] })
    const kept = join(here.store, 'imports')
    writeFileSync(kept, readFileSync(kept, 'utf8').replaceAll(session, session.replace(/^./, 'f')))
    expect(run()).toMatchObject({ imported: [{ session, new: 0 }], sources: [{ unchanged: false }] })
  })

  it('takes a line that is cut short now when it is whole', () => {
    const here = place()
    const file = source(here.folder)
    const line = record('u3', 'a2', 'user', 'then make one')
    appendFileSync(file, line.slice(0, 40))
    const torn = here.run(['import', 'auto', here.folder, '--json'])
    expect(torn.code).toBe(1)
    expect(torn.json()).toMatchObject({ failed: [{ source: file, line: 3 }] })
    appendFileSync(file, line.slice(40))
    const whole = here.run(['import', 'auto', here.folder, '--json'])
    expect(whole.code).toBe(0)
    expect(whole.json()).toMatchObject({ imported: [{ new: 1 }], failed: [] })
  })

  it('knows a session whose first line is long', () => {
    const here = place()
    const file = source(here.folder)
    writeFileSync(file, record('u1', null, 'user', 'long '.repeat(50_000)))
    expect(here.run(['import', 'auto', here.folder, '--json']).json()).toMatchObject({
      imported: [{ new: 2 }],
    })
  })

  it('finds the sessions among many files', () => {
    const here = place()
    const file = source(here.folder)
    for (let i = 0; i < 1000; i++) {
      const folder = join(here.folder, `d${i % 20}`)
      mkdirSync(folder, { recursive: true })
      writeFileSync(join(folder, `f${i}.${i % 2 === 0 ? 'jsonl' : 'json'}`), '{"level":"info"}\n')
    }
    const { code, json } = here.run(['import', 'auto', here.folder, '--json'])
    expect(code).toBe(0)
    expect((json() as Sources).sources.map((one) => one.source)).toEqual([file])
  })

  it('names what it saw in a file that is of no format, or of another than was said', () => {
    const here = place()
    const file = source(here.folder)
    const other = join(here.folder, 'rollout-2026.jsonl')
    writeFileSync(other, '{"level":"info","msg":"x"}\n')
    const auto = here.run(['import', 'auto', other, file])
    expect(auto.code).toBe(1)
    expect(auto.err).toBe(
      `coppice: not imported: of no known format: its JSON has the members level, msg: ${other}\n`,
    )
    expect(auto.out).toMatch(/imported 1 session, 3 new events, from 1 file, 1 not imported\n$/)
    const wrong = here.run(['import', 'codex', file])
    expect(wrong.code).toBe(1)
    expect(wrong.err).toMatch(/it is of Claude Code, not of Codex: import it as claude, or auto/)
  })

  it('names each path that may not be read, takes the rest, and exits 1', () => {
    const here = place()
    const file = source(here.folder)
    const folder = join(here.folder, 'closed')
    mkdirSync(folder)
    const closed = join(dirname(file), 'closed.jsonl')
    writeFileSync(closed, 'x')
    chmodSync(closed, 0)
    chmodSync(folder, 0)
    const [command = '', ...args] = [
      ...asNobody,
      process.execPath,
      entry,
      '--store',
      here.store,
      'import',
      'auto',
      here.folder,
    ]
    const { status, stdout, stderr } = spawnSync(command, args, {
      encoding: 'utf8',
      env: { ...process.env, HOME: here.store },
    })
    chmodSync(folder, 0o700)
    expect(stderr.split('\n').sort()).toEqual([
      '',
      `coppice: not imported: may not be read (EACCES): ${closed}`,
      `coppice: not imported: may not be read (EACCES): ${folder}`,
    ])
    expect(stdout).toMatch(/imported 1 session, .*, 2 not imported\n$/)
    expect(status).toBe(1)
  })
})

describe('import and discover', () => {
  it('find, take over, and add only what is new', () => {
    const here = place()
    const file = source(here.folder)
    const found = here.run(['discover', '--json'], { env: { HOME: here.folder } }).json()
    expect(found).toEqual([{ format: 'claude', path: join(here.folder, '.claude/projects'), sessions: 1 }])
    const dry = here.run(['import', 'auto', here.folder, '--dry-run', '--json']).json() as Report
    expect(dry.imported).toEqual([expect.objectContaining({ source: file, new: expect.any(Number) })])
    expect(here.run(['list', '--all', '--json']).json()).toEqual([])
    const first = here.run(['import', 'claude', file, '--json'])
    expect(first.code).toBe(0)
    const report = first.json() as Report
    expect(report.failed).toEqual([])
    expect(Object.keys(report.imported[0] ?? {}).sort()).toEqual([
      'events',
      'new',
      'notes',
      'session',
      'source',
    ])
    const { session = '', events, new: added } = report.imported[0] ?? {}
    expect(added).toBe(events)
    expect(
      (here.run(['context', session]).json() as readonly { content: string }[]).map(({ content }) => content),
    ).toEqual(['list files', 'there are none'])
    expect(here.run(['list', '--all', '--json']).json()).toMatchObject([
      { session, workspace: '/home/someone/app' },
    ])
    expect((here.run(['import', 'auto', here.folder, '--json']).json() as Report).imported[0]).toMatchObject({
      new: 0,
      session,
    })
    appendFileSync(file, record('u3', 'a2', 'user', 'then make one'))
    expect((here.run(['import', 'auto', here.folder, '--json']).json() as Report).imported[0]).toMatchObject({
      new: 1,
      session,
    })
  })

  it('go on where a part fails, and say so (exit 1)', () => {
    const here = place()
    const file = source(here.folder)
    appendFileSync(file, 'no JSON at all\n')
    const { code, err } = here.run(['import', 'claude', here.folder])
    expect(code).toBe(1)
    expect(err).toMatch(/line 3/)
    expect(here.run(['list', '--all', '--json']).json()).toHaveLength(1)
    const nothing = here.run(['import', 'auto', here.workspace, '--json'])
    expect(nothing.code).toBe(1)
    expect(nothing.json()).toMatchObject({ imported: [], failed: [{ source: here.workspace }] })
  })

  it('stay with --watch, and take over what is added', async () => {
    const here = place()
    const file = source(here.folder)
    const child = startIn(here.store, ['import', 'auto', here.folder, '--watch', '--json'])
    let printed = ''
    child.stdout.on('data', (data) => {
      printed += data
    })
    const lines = async (count: number): Promise<readonly string[]> => {
      while (printed.split('\n').length <= count) await new Promise((resolve) => setTimeout(resolve, 20))
      return printed.split('\n')
    }
    await lines(1)
    appendFileSync(file, record('u3', 'a2', 'user', 'then make one'))
    const second = JSON.parse((await lines(2))[1] ?? '') as Report
    expect(second.imported).toEqual([expect.objectContaining({ source: file, new: 1 })])
    child.kill('SIGINT')
  })

  it('pass over a store of its own, whatever it holds', () => {
    const here = place()
    const file = source(here.folder)
    here.run(['import', 'auto', here.folder])
    const again = here.run(['import', 'auto', here.folder, '--json']).json() as Report
    expect(again).toMatchObject({ imported: [expect.objectContaining({ source: file, new: 0 })], failed: [] })
  })

  it('a copied store is a backup: it opens and verifies', () => {
    const here = place()
    source(here.folder)
    here.run(['import', 'auto', here.folder])
    const copy = join(here.folder, 'copy')
    cpSync(here.store, copy, { recursive: true })
    const list = (store: string) => here.run(['list', '--all', '--json', '--store', store]).json()
    expect(list(copy)).toEqual(list(here.store))
    expect(here.run(['verify', '--store', copy]).code).toBe(0)
  })
})
