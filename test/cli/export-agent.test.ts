import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { formats } from '../../src/formats/registry.js'
import { place } from './coppice.js'

const samples = fileURLToPath(new URL('../../samples', import.meta.url))
const writers = formats.filter(({ writer }) => writer !== undefined).map(({ name }) => name)

const secret = 'ghp_16C7e42F292c6912E7710c838347Ae178B4a'

interface Report {
  readonly path: string
  readonly notes: readonly string[]
  readonly resume: string
  readonly installed: boolean
}

/** A store with one session of two prompts, a call and its result; gives its id. */
const withSession = () => {
  const { run, folder, workspace, store } = place()
  const { session } = run(['new', '--title', 'Tea timer', '--json']).json() as { session: string }
  const drafts = [
    { type: 'message', role: 'user', content: 'list files' },
    {
      type: 'message',
      role: 'assistant',
      content: 'Looking.',
      toolCalls: [{ id: 'call_1', name: 'bash', arguments: '{"command":"ls"}' }],
    },
    { type: 'message', role: 'tool', toolCallId: 'call_1', content: 'README.md', ok: true },
    { type: 'message', role: 'assistant', content: 'There is README.md.' },
    { type: 'message', role: 'user', content: `key: ${secret}` },
  ]
  run(['append', session], { input: drafts.map((draft) => JSON.stringify(draft)).join('\n') })
  return { run, folder, workspace, store, session }
}

/** All that stands in a file, or in the files of a folder. */
const textIn = (path: string): string =>
  statSync(path).isDirectory()
    ? readdirSync(path)
        .map((name) => textIn(join(path, name)))
        .join('\n')
    : readFileSync(path, 'utf8')

const shared = withSession()
const other = place()

describe.each(writers)('export %s', (format) => {
  it('takes secrets out, says what is lost and how to resume, and is read again', () => {
    const { run, session, workspace } = shared
    const report = run(['export', session, format, '--json']).json() as Report
    expect(dirname(report.path)).toBe(workspace)
    expect(report.path).toContain(`coppice-${session.slice(0, 8)}-${format}`)
    expect(report).toMatchObject({ installed: false, resume: expect.stringContaining(' && ') })
    expect(textIn(report.path)).not.toContain(secret)
    expect(report.notes.join('\n')).toMatch(/1 secret redacted \(1 .*\); --no-redact leaves them in/)
    const read = other.run(['import', format, report.path, '--json']).json() as {
      imported: { session: string }[]
    }
    expect(read).toMatchObject({ failed: [] })
    const shown = other.run(['context', read.imported[0]?.session ?? '', '--format', 'plain']).out
    for (const words of ['list files', 'Looking.', 'README.md', 'There is README.md.'])
      expect(shown).toContain(words)
  })

  it('--install puts it where the agent looks, and never over what is there', () => {
    const { run, session, store } = shared
    const args = ['export', session, format, '--install', '--no-redact']
    const report = run([...args, '--json']).json() as Report
    expect(report).toMatchObject({ installed: true, path: expect.stringContaining(store) })
    const before = textIn(report.path)
    expect(before).toContain(secret)
    const again = run([...args, '--force'])
    expect(again.code).toBe(5)
    expect(again.err).toMatch(/^coppice: .* has this session already: .*: .*coppice fork/)
    expect(textIn(report.path)).toBe(before)
  })
})

describe('export to an agent', () => {
  it('refuses what does not go with it, in one line', () => {
    const { run, session, workspace } = shared
    writeFileSync(join(workspace, 'there.jsonl'), 'mine')
    const cases: readonly (readonly [readonly string[], number, RegExp])[] = [
      [['gemini'], 2, /not written as gemini/],
      [['claude', '--all'], 2, /--all does not go/],
      [['claude', 'x.jsonl', '--install'], 2, /--install and a path/],
      [['claude', 'there.jsonl'], 2, /exists/],
      [['claude', '--branch', 'nowhere'], 3, /nowhere/],
    ]
    for (const [args, code, words] of cases) {
      const ran = run(['export', session, ...args])
      expect(ran.code, args.join(' ')).toBe(code)
      expect(ran.err).toMatch(words)
      expect(ran.err.trim().split('\n')).toHaveLength(1)
    }
    expect(readFileSync(join(workspace, 'there.jsonl'), 'utf8')).toBe('mine')
    expect(run(['export', session, 'claude', 'there.jsonl', '--force']).code).toBe(0)
    const { session: empty } = run(['new', '--json']).json() as { session: string }
    expect(run(['export', empty, 'claude']).err).toMatch(/nothing was said/)
  })

  it('writes one file to stdout, and its notes to stderr', () => {
    const { run, session } = shared
    const ran = run(['export', session, 'claude', '-'])
    expect(ran.code).toBe(0)
    const records = ran.out
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as { type: string })
    expect(records.map(({ type }) => type)).toContain('custom-title')
    expect(ran.err).toContain('secret redacted')
  })

  it('gives a sample back to the agent that it came from, byte for byte in what it says', () => {
    const { run, folder } = place()
    mkdirSync(join(folder, 'out'))
    const { imported } = run(['import', 'claude', join(samples, 'claude'), '--json']).json() as {
      imported: { session: string; source: string }[]
    }
    const main = imported.find(({ source }) => !source.includes('subagents'))
    const out = join(folder, 'out', 'again')
    run(['export', main?.session ?? '', 'claude', out, '--no-redact'])
    const file = main?.source.split('/').at(-1) ?? ''
    expect(existsSync(join(out, file))).toBe(true)
    const parse = (text: string): unknown[] =>
      text
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line) as unknown)
    expect(parse(readFileSync(join(out, file), 'utf8'))).toEqual(
      parse(readFileSync(main?.source ?? '', 'utf8')),
    )
  })
})
