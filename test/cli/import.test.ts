import { appendFileSync, cpSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { place, startIn } from './coppice.js'

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
    expect(again).toEqual({ imported: [expect.objectContaining({ source: file, new: 0 })], failed: [] })
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
