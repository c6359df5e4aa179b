import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { hitLine } from '../../src/cli/draw-hits.js'
import { loadWidths, widthOf } from '../../src/cli/width.js'
import { assistant, place, runIn, sessionWith, startIn, user } from './coppice.js'
import { newFolder } from './folders.js'

type Hit = Record<'session' | 'event' | 'at' | 'role' | 'excerpt', string>

describe('coppice search', () => {
  it('finds a text in the workspace, or in all, newest first, as JSON', () => {
    const here = place()
    const first = sessionWith(here, user('the needle of one'), assistant('no such thing'))
    const other = newFolder()
    const second = runIn(here.store, ['new', '-w', other]).out.trim()
    runIn(here.store, ['append', second], { input: `${JSON.stringify(assistant('Needle two'))}\n` })
    const own = here.run(['search', 'NEEDLE', '--json'])
    expect(own.code).toBe(0)
    expect(own.json()).toEqual([
      {
        session: first.session,
        event: first.ids[0],
        at: expect.any(String),
        role: 'user',
        excerpt: 'the needle of one',
      },
    ])
    const all = here.run(['search', 'needle', '--all', '--json']).json() as Hit[]
    expect(all.map(({ session, role }) => [session, role])).toEqual([
      [second, 'assistant'],
      [first.session, 'user'],
    ])
    expect(here.run(['search', 'needle', '--all', '--role', 'user', '--json']).json()).toHaveLength(1)
    expect(here.run(['search', 'needle', '--all', '--limit', '1', '--json']).json()).toEqual(all.slice(0, 1))
  })

  it('shows each hit on a line under its session, with nothing that commands a terminal', () => {
    const here = place()
    const { session, ids } = sessionWith(here, user('a \x1b[31mred\x1b[0m needle\nin hay'))
    const { out, code } = here.run(['search', 'needle'])
    expect(code).toBe(0)
    expect(out).toContain(session.slice(0, 8))
    expect(out).toContain(`${ids[0]?.slice(0, 8)}`)
    expect(out).toContain('␛[31mred␛[0m needle in hay')
    expect(out).not.toContain('\x1b')
  })

  it('says that nothing was found, and refuses an empty text and an unknown role', () => {
    const here = place()
    sessionWith(here, user('hay'))
    expect(here.run(['search', 'needle'])).toMatchObject({
      code: 0,
      out: '',
      err: expect.stringMatching(/^coppice: not found: .*--all/),
    })
    expect(here.run(['search', 'needle', '--json'])).toMatchObject({ code: 0, out: '[]\n', err: '' })
    expect(here.run(['search', '  '])).toMatchObject({ code: 2, out: '' })
    expect(here.run(['search', 'x', '--role', 'nobody'])).toMatchObject({ code: 2, out: '' })
  })

  it('names a damaged session, searches the rest, and exits 4', () => {
    const here = place()
    const bad = sessionWith(here, user('needle one'), user('needle two'), user('needle three'))
    sessionWith(here, user('needle four'))
    const [key = ''] = readdirSync(join(here.store, 'projects'))
    const log = join(here.store, 'projects', key, bad.session, 'data.jsonl')
    writeFileSync(log, readFileSync(log, 'utf8').replace('needle two', 'needle 2'))
    const { code, err, out } = here.run(['search', 'needle', '--json'])
    expect(code).toBe(4)
    expect((JSON.parse(out) as Hit[]).map(({ excerpt }) => excerpt)).toEqual([
      'needle four',
      'needle three',
      'needle one',
    ])
    expect(err).toContain(bad.session)
    expect(err).toContain('line 3')
  })

  it('is safe while others search and append', async () => {
    const here = place()
    const { session } = sessionWith(here, user('needle 0'))
    const searches = Array.from({ length: 4 }, () => startIn(here.store, ['search', 'needle', '--json']))
    const append = startIn(here.store, ['append', session])
    for (let i = 1; i < 20; i++) append.stdin.write(`${JSON.stringify(user(`needle ${i}`))}\n`)
    append.stdin.end()
    const codes = await Promise.all(
      [...searches, append].map((child) => new Promise((done) => child.on('close', done))),
    )
    expect(codes).toEqual([0, 0, 0, 0, 0])
    expect(here.run(['search', 'needle', '--json']).json()).toHaveLength(20)
  })
})

describe('a hit as it is drawn', () => {
  it('fits the columns and shows the hit, in scripts of two columns too', async () => {
    await loadWidths(['漢'])
    const plain = { yellow: String, dim: String, bold: String, inverse: (text: string) => `[${text}]` }
    for (const [before, hit, after] of [
      ['before '.repeat(20), 'needle', ' after'.repeat(20)],
      ['漢字'.repeat(30), '会话', 'かな'.repeat(30)],
      ['', 'x'.repeat(150), ''],
    ] as const) {
      const line = hitLine(
        {
          session: 'a'.repeat(32),
          workspace: '/w',
          event: 'b'.repeat(32),
          at: '2026-12-01T09:00:00.000Z',
          type: 'message',
          role: 'assistant',
          excerpt: before + hit + after,
          match: [before.length, before.length + hit.length],
        },
        { columns: 80, colours: plain as never, now: Date.parse('2026-12-01T10:00:00.000Z') },
      )
      expect(line).toContain(`[${hit.slice(0, 2)}`)
      expect(widthOf(line)).toBeLessThanOrEqual(82)
    }
  })
})
