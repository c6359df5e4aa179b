import { existsSync, mkdirSync, readdirSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { assistant, place, sessionWith, user } from './coppice.js'

describe('names from outside', () => {
  it.each(['../x', '..', '/', 'a/b', '', '%2e%2e', 'C:\\x', '../../../../etc/passwd', 'ab'])(
    'the session %j is not found, and nothing is touched',
    (name) => {
      const here = place()
      sessionWith(here, user('hi'))
      for (const args of [
        ['show', name],
        ['append', name],
        ['delete', name],
        ['export', name, 'jsonl'],
      ]) {
        const { code, err } = here.run(args)
        expect([2, 3], args.join(' ')).toContain(code)
        expect(err).toMatch(/^coppice: [^\n]+\n$/)
      }
      expect(readdirSync(here.folder)).toEqual(['store'])
      expect(readdirSync(here.workspace)).toEqual([])
    },
  )

  it.each([
    'a b',
    'quote\'s "here"',
    '漢字',
    'new\nline',
    '-w',
    'x'.repeat(200),
    'tab\there',
    '\u202egnp.exe',
  ])('a workspace called %j works, and is printed in one line', (name) => {
    const here = place()
    const workspace = join(here.folder, name)
    mkdirSync(workspace)
    const made = here.run(['new', '--title', 'Here', '--json'], { cwd: workspace })
    expect(made).toMatchObject({ code: 0, err: '' })
    const rows = here.run(['list', '--json', '--workspace', workspace]).json() as readonly {
      workspace: string
    }[]
    expect(rows.map((row) => row.workspace)).toEqual([workspace])
    const people = here.run(['list', '--all']).out
    expect(people.trimEnd().split('\n')).toHaveLength(2)
    expect(people).not.toMatch(/[\t\u202e]/)
  })

  it('a workspace is the same through a link to it; a loop of links is no disaster', () => {
    const here = place()
    sessionWith(here, user('hi'))
    symlinkSync(here.workspace, join(here.folder, 'link'))
    expect(here.run(['list', '--json', '-w', join(here.folder, 'link')]).json()).toHaveLength(1)
    symlinkSync(join(here.folder, 'loop'), join(here.folder, 'loop'))
    expect(here.run(['list', '--json', '-w', join(here.folder, 'loop')]).json()).toEqual([])
    const { code, err } = here.run(['import', 'auto', join(here.folder, 'loop')])
    expect({ code, err }).toEqual({ code: 1, err: expect.stringMatching(/^coppice: [^\n]*loop[^\n]*\n$/) })
  })

  it('a title of 10,000 characters is refused before anything is made', () => {
    const here = place()
    const { code, err } = here.run(['new', '--title', 'x'.repeat(10_000)])
    expect({ code, err }).toEqual({
      code: 2,
      err: expect.stringMatching(/1 to 200 characters, this one has 10000/),
    })
    expect(existsSync(here.store)).toBe(false)
    expect(here.run(['new', '--title', '😀'.repeat(200)]).code).toBe(0)
  })

  it('titles, messages and labels cannot command a terminal', () => {
    const here = place()
    const evil = 'a\x1b]0;owned\x07\x1b[2J\x9b31m\u202eb'
    const { session } = sessionWith(here, user(evil), assistant(evil))
    here.run(['title', session, evil])
    here.run(['label', session, '@', evil])
    here.run(['branch', session, evil])
    for (const args of [
      ['list'],
      ['show', session],
      ['log', session],
      ['tree', session],
      ['undo', session],
      ['title', session],
      ['label', session],
      ['branch', session],
    ])
      expect(here.run(args).out, args.join(' ')).not.toMatch(/[\x00-\x08\x0b-\x1f\x7f-\x9f\u202e]/)
    expect((here.run(['show', session, '--json']).json() as readonly { content: string }[])[0]?.content).toBe(
      evil,
    )
  })

  it('a branch or label with any text can be named again', () => {
    const here = place()
    const { session, ids } = sessionWith(here, user('a'), assistant('b'))
    here.run(['label', session, ids[0] ?? '', '漢字 "label"'])
    expect(here.run(['checkout', session, '漢字 "label"', '--json']).json()).toEqual({ head: ids[0] })
  })
})
