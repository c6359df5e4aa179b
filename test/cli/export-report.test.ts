import { existsSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { Agent } from './code.js'
import { assistant, draftLines, place, sessionWith, user } from './coppice.js'

const secret = `ghp_${'aB3dE5gH7jK9mN1pQ3sT5vW7xY9zA1cD3eF5'}`

describe('export to a report', () => {
  const at = place()
  const { session, ids } = sessionWith(
    at,
    user(`here is my token ${secret}`),
    assistant('thanks'),
    { type: 'message', role: 'user', content: 'psst', visible: false },
    { type: 'message', role: 'user', content: 'by the way', aside: true },
    user('go on'),
    assistant('done'),
  )
  const file = join(at.workspace, `coppice-${session.slice(0, 8)}.html`)
  const { run } = at

  it('writes a page into the workspace, readable by its owner, and says where and what was taken out', () => {
    const { code, out, err } = run(['export', session, 'html'])
    expect({ code, out }).toEqual({ code: 0, out: `${file}\n` })
    expect(err).toMatch(/1 secret redacted \(1 .*\)/)
    expect(err).toContain('1 line of /btw exchanges left out')
    expect(err).toContain('1 hidden message left out')
    expect(err).toContain('look through it before you share it')
    expect(statSync(file).mode & 0o777).toBe(0o600)
    const page = readFileSync(file, 'utf8')
    expect(page).not.toContain(secret)
    expect(page).toMatch(/here is my token <mark>\[redacted: [^\]]+\]<\/mark>/)
    expect(page).not.toMatch(/psst|by the way/)
    expect(page).toContain(session)
    expect(page).toContain(ids.at(-1))
  })

  it('never overwrites without --force, and makes folders', () => {
    expect(run(['export', session, 'html'])).toMatchObject({ code: 2, out: '' })
    expect(run(['export', session, 'html', '--force']).code).toBe(0)
    expect(run(['export', session, 'md', 'a/b/c.md']).out).toBe(`${join(at.workspace, 'a/b/c.md')}\n`)
    expect(existsSync(join(at.workspace, 'a/b/c.md'))).toBe(true)
    const outside = join(at.folder, 'd/e.html')
    expect(run(['export', session, 'html', outside]).out).toBe(`${outside}\n`)
  })

  it('is relative to the workspace, wherever one stands', () => {
    const { out } = run(['export', session, 'html', 'far.html', '-w', at.workspace], { cwd: at.folder })
    expect(out).toBe(`${join(at.workspace, 'far.html')}\n`)
  })

  it('gives JSON with where and what to know', () => {
    const { out, err } = run(['export', session, 'md', 'json.md', '--json'])
    const { path, notes } = JSON.parse(out) as { path: string; notes: string[] }
    expect(path).toBe(join(at.workspace, 'json.md'))
    expect(notes).toHaveLength(4)
    expect(err).toBe('')
  })

  it('leaves secrets and hidden messages in where asked to', () => {
    const { out, err } = run(['export', session, 'md', '-', '--no-redact', '--all'])
    expect(out).toContain(secret)
    expect(out).toContain('psst')
    expect(out).not.toContain('by the way')
    expect(err).toContain('secrets were left in')
  })

  it('shows a part, or another branch', () => {
    const part = run(['export', session, 'md', '-', '--from', ids[4] ?? '']).out
    expect(part).toContain('go on')
    expect(part).not.toContain('thanks')
    const branch = run(['export', session, 'md', '-', '--branch', ids[1] ?? '']).out
    expect(branch).toContain('thanks')
    expect(branch).not.toContain('go on')
  })

  it('refuses what names nothing on the branch, and parts that end before they begin', () => {
    expect(
      run(['export', session, 'md', '-', '--from', ids[4] ?? '', '--branch', ids[1] ?? '']),
    ).toMatchObject({ code: 2 })
    expect(run(['export', session, 'md', '-', '--from', ids[4] ?? '', '--to', ids[0] ?? '']).err).toContain(
      '--from comes after --to',
    )
    expect(run(['export', session, 'html', '-', '--install'])).toMatchObject({ code: 2, out: '' })
    expect(run(['export', session, 'pdf']).err).toContain('no format pdf: known are html, md, jsonl')
  })

  it('shows what each turn changed in the code, between the checkpoints of a real agent', async () => {
    const agent = await Agent.ready()
    const say = (...drafts: readonly object[]): void => {
      const { code, err } = agent.runWith({ input: draftLines(...drafts) }, 'append', agent.session)
      expect({ code, err }).toEqual({ code: 0, err: '' })
    }
    const checkpoint = (reason: string): void => {
      agent.done('checkpoint', agent.session, 'src/login.ts', 'notes.md', '--reason', reason)
    }
    const calls = (id: string): object => ({
      type: 'message',
      role: 'assistant',
      content: null,
      toolCalls: [{ id, name: 'write', arguments: '{"path":"src/login.ts"}' }],
    })
    const written = (toolCallId: string): object => ({
      type: 'message',
      role: 'tool',
      toolCallId,
      content: 'written',
    })
    agent.write('src/login.ts', 'const tries = 3\n')
    say(user('Allow more tries'), calls('c1'))
    checkpoint('before-tool')
    agent.write('src/login.ts', 'const tries = 5\n')
    checkpoint('after-tool')
    say(written('c1'), assistant('done'), user('Write it down'), calls('c2'))
    agent.write('notes.md', `tries <b>&</b> "token" ${secret}\n`)
    checkpoint('after-tool')
    say(written('c2'), assistant('done'), user('Only look'), assistant('nothing to see'))
    const page = agent.done('export', agent.session, 'html', '-').out
    const [, first = '', second = '', third = ''] = page.split(/<section class="turn" id="t\d+"/).slice(1)
    expect(first).toContain(
      '<summary>src/login.ts <small>modified <span class="pl">+1</span> <span class="mi">−1</span>',
    )
    expect(first).toMatch(/<del>-const tries = 3\n<\/del><ins>\+const tries = 5<\/ins>/)
    expect(first).not.toContain('notes.md <small>')
    expect(second).toContain('<summary>notes.md <small>added')
    expect(second).toContain('<ins>+tries &lt;b&gt;&amp;&lt;/b&gt; "token" <mark>[redacted: ')
    expect(second).not.toContain('<summary>src/login.ts')
    expect(third).not.toContain('class="ch"')
    expect(page).not.toContain(secret)
    const markdown = agent.done('export', agent.session, 'md', '-').out
    expect(markdown).toContain('-const tries = 3\n+const tries = 5')
    expect(markdown.match(/Code changes/g)).toHaveLength(2)
  })
})
