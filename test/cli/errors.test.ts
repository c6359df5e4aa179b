import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { messageOf } from '../../src/cli/exit.js'
import { place, sessionWith, user } from './coppice.js'

/** One line that begins with the program's name, and nothing on stdout. */
const oneLine = /^coppice: [^\n]+\n$/

/** One session for all that only fails. */
let made: (Pick<ReturnType<typeof place>, 'run'> & { readonly session: string }) | undefined
const shared = () => {
  if (made !== undefined) return made
  const { run } = place()
  made = { run, session: sessionWith({ run }, user('hi')).session }
  return made
}

describe('errors', () => {
  it('name what, where and what to do, in one line on stderr', () => {
    const { run, store, workspace } = place()
    const { code, out, err } = run(['show', 'abcd1234'])
    expect({ code, out }).toEqual({ code: 3, out: '' })
    expect(err).toBe(
      `coppice: no session abcd1234: in ${store}, workspace ${workspace}: try list --all, or check -w\n`,
    )
  })

  it('come as JSON too with --json, with the tag', () => {
    const { run } = place()
    const { out, err } = run(['show', 'abcd1234', '--json'])
    const [line = '', json = '', ...rest] = err.split('\n')
    expect(out).toBe('')
    expect(line).toMatch(/^coppice: no session/)
    expect(JSON.parse(json)).toEqual({
      error: expect.objectContaining({ tag: 'NotFound', message: expect.any(String), named: 'abcd1234' }),
    })
    expect(rest).toEqual([''])
  })

  it.each([
    ['an event that is not there', ['show', 'SESSION', '--at', 'ffffffffffff'], 3],
    ['a projection that is not there', ['replay', 'SESSION', '--projection', 'nonsense'], 2],
    ['an unknown command', ['nonsense'], 2],
    ['an unknown option', ['list', '--nonsense'], 2],
    ['a missing argument', ['show'], 2],
    ['one argument too many', ['list', 'a'], 2],
    ['no command', [], 2],
    ['a number that is none', ['list', '--limit', 'many'], 2],
    ['a format that is none', ['context', 'SESSION', '--format', 'xml'], 2],
    ['an import from nowhere', ['import', 'auto', '/nonexistent/folder'], 3],
    ['an import of an unknown format', ['import', 'nonsense', '.'], 2],
    ['a summary that is not given', ['compact', 'SESSION'], 2],
    ['a summary that is not there', ['compact', 'SESSION', '--summary', '/nonexistent'], 3],
    ['a summary that cannot be read', ['compact', 'SESSION', '--summary', '/'], 1],
    ['a system message that is not there', ['new', '--system', '/nonexistent'], 3],
    ['a workspace that is not there', ['new', '-w', '/nonexistent/folder'], 3],
    ['an undo to no user message', ['undo', 'SESSION', 'SESSION'], 1],
    ['nothing to redo', ['redo', 'SESSION'], 5],
    ['a branch name that looks like an id', ['branch', 'SESSION', 'abcdef'], 2],
    ['a label too long', ['label', 'SESSION', '@', 'x'.repeat(201)], 2],
    ['a status that is none', ['list', '--status', 'busy'], 2],
    ['help for an unknown command', ['help', 'nonsense'], 2],
    ['an empty title', ['title', 'SESSION', ' '], 2],
    ['two that exclude each other', ['undo', 'SESSION', '@', '--force', '--keep'], 2],
    ['a shell without completion', ['completion', 'cmd'], 2],
    ['an age that is none', ['archive', '--purge', '--older-than', 'long'], 2],
  ] as const)('%s: %j', (_what, args, expected) => {
    const { run, session } = shared()
    const { code, out, err } = run(args.map((arg) => (arg === 'SESSION' ? session : arg)))
    expect({ code, out, err }).toEqual({ code: expected, out: '', err: expect.stringMatching(oneLine) })
    expect(err).not.toMatch(/ {4}at /)
  })

  it.each([
    ...['chat', 'resume', 'continue', 'push abcd --to x', 'pull abcd --from x'],
    ...['list --store postgres://localhost/db'],
  ])('%s is told to be missing in this version', (line) => {
    const { code, out, err } = shared().run(line.split(' '))
    expect({ code, out }).toEqual({ code: 2, out: '' })
    expect(err).toMatch(oneLine)
    expect(err).toMatch(/this version does not have/)
  })

  it('make nothing of a workspace that is not there', () => {
    const { run, store, folder } = place()
    expect(run(['new', '-w', join(folder, 'nowhere')])).toMatchObject({
      code: 3,
      err: expect.stringMatching(/^coppice: no workspace [^\n]*nowhere: [^\n]*--workspace\n$/),
    })
    expect([existsSync(store), existsSync(join(folder, 'nowhere'))]).toEqual([false, false])
  })

  it('name the candidates of an ambiguous prefix', () => {
    const { run } = place()
    const many = Array.from({ length: 40 }, (_, i) => user(`message ${i}`))
    // Ids are hashes: make sessions until two begin alike would take long, so events of one session do.
    const { session, ids } = sessionWith({ run }, ...Array.from({ length: 40 }, () => many).flat())
    const prefixes = ids.map((one) => one.slice(0, 4))
    const twice = prefixes.find((prefix, i) => prefixes.indexOf(prefix) !== i)
    if (twice === undefined) throw new Error('1,600 ids, and no two begin alike')
    const { code, err } = run(['show', session, '--at', twice])
    expect(code).toBe(2)
    for (const one of ids.filter((candidate) => candidate.startsWith(twice))) expect(err).toContain(one)
  })

  it('say what is wrong with a name: too short, or of no command', () => {
    const { run } = shared()
    expect(run(['show', 'abc']).err).toMatch(/no session abc: .*: give at least 4 characters of its id\n$/)
    expect(run(['help', 'nonsense']).err).toBe("coppice: unknown command 'nonsense': see `coppice --help`\n")
    expect(run(['new', '--title', ' ']).err).not.toMatch(/shorter/)
  })

  it('of a full disk say to free some space', () => {
    expect(messageOf(Object.assign(new Error('ENOSPC: write'), { syscall: 'write', code: 'ENOSPC' }))).toBe(
      'ENOSPC: write: free some space, and try again',
    )
  })

  it('have a trace only with --debug', () => {
    const { run } = place()
    expect(run(['show', 'abcd1234']).err).not.toContain('    at ')
    expect(run(['show', 'abcd1234', '--debug']).err).toContain('    at ')
  })

  it('tell of a malformed configuration, and of a store that is a file', () => {
    const { run, store, folder } = place()
    mkdirSync(store, { recursive: true })
    writeFileSync(join(store, 'config.toml'), 'color = maybe')
    expect(run(['list'])).toMatchObject({
      code: 1,
      out: '',
      err: expect.stringMatching(/config.toml, line 1/),
    })
    const file = join(folder, 'file')
    writeFileSync(file, 'not a store')
    const { code, err } = run(['new', '--store', file])
    expect(code).toBe(1)
    expect(err).toMatch(oneLine)
  })

  it('leave help and the version alone', () => {
    const { run } = place()
    expect(run(['--help'])).toMatchObject({ code: 0, err: '', out: expect.stringContaining('Exit codes') })
    expect(run(['help', 'undo'])).toMatchObject({ code: 0, err: '', out: expect.stringContaining('Example') })
    expect(run(['--version']).out).toMatch(/^\d+\.\d+\.\d+\n$/)
  })
})
