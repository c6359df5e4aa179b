import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { assistant, draftLines, place, sessionWith, startIn, user } from './coppice.js'

const token = `gh${'p_'}wWPw5k4aXcaT4fNP0UcnZwJUVFk6LO0pINUx`

/** Every file of a folder that holds a text. */
const holding = (folder: string, text: string): readonly string[] =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) => {
    const path = join(folder, name)
    return statSync(path).isFile() && readFileSync(path).includes(text)
  })

interface Done {
  readonly redacted: number
  readonly events: readonly string[]
  readonly elsewhere: readonly { readonly session: string }[]
}

describe('coppice redact', () => {
  it('lists what it detects without saying it, redacts it, and names what is left', () => {
    const at = place()
    const { session, ids } = sessionWith(at, user(`use ${token}`), assistant('done'))
    const fork = at.run(['fork', session]).out.trim()
    const dry = at.run(['redact', session, '--detect', '--dry-run'])
    expect(dry.code).toBe(0)
    expect(dry.out).toContain(`${ids[0]?.slice(0, 8)}  message  github-token`)
    expect(dry.out).not.toContain(token)
    expect(holding(at.store, token)).not.toEqual([])

    const done = at.run(['redact', session, '--detect', '--json']).json() as Done
    expect(done).toMatchObject({
      redacted: 1,
      events: [ids[0]],
      elsewhere: [{ session: fork, archived: false }],
    })
    const other = done.elsewhere[0] as { readonly session: string; readonly events: readonly string[] }
    expect(at.run(['redact', fork, ...other.events.map((id) => id.slice(0, 12))]).out).toContain(
      '1 event redacted',
    )
    expect(holding(at.store, token).every((path) => path.includes('/archive/redacted/'))).toBe(true)

    expect(at.run(['show', session]).out).toContain('(redacted)')
    const verified = at.run(['verify', session])
    expect([verified.code, verified.out]).toEqual([0, expect.stringContaining('1 redacted')])
    const purged = at.run(['archive', '--purge', '--json']).json() as { readonly copies: readonly object[] }
    expect(purged.copies).toHaveLength(2)
    expect(holding(at.store, token)).toEqual([])
  })

  it('is refused while another process has the session open: exit 5, nothing changed', async () => {
    const at = place()
    const { session, ids } = sessionWith(at, user('one'))
    const writer = startIn(at.store, ['append', session])
    const printed = new Promise((resolve) => writer.stdout.once('data', resolve))
    writer.stdin.write(draftLines(user('two')))
    await printed
    const refused = at.run(['redact', session, ids[0] as string, '--json'])
    expect([refused.code, refused.out]).toEqual([5, ''])
    expect(JSON.parse(refused.err.split('\n').find((line) => line.startsWith('{')) ?? '')).toMatchObject({
      error: { tag: 'Refused', conflict: true },
    })
    writer.stdin.end()
    await new Promise((resolve) => writer.once('exit', resolve))
    expect(at.run(['redact', session, ids[0] as string, '--json']).json()).toMatchObject({ redacted: 1 })
  })

  it('needs events or --detect, and never redacts a root', () => {
    const at = place()
    const { session } = sessionWith(at, user('one'))
    expect(at.run(['redact', session]).code).toBe(2)
    expect(at.run(['redact', session, 'ffff0000']).code).toBe(3)
    const root = at.run(['redact', session, session])
    expect([root.code, root.err]).toEqual([1, expect.stringContaining('never redacted')])
  })
})

describe('redact = "write" in config.toml', () => {
  it('keeps secrets out of the log, and show --reveal puts them back', () => {
    const at = place()
    const session = at.run(['new']).out.trim()
    writeFileSync(join(at.store, 'config.toml'), 'redact = "write"\n')
    at.run(['append', session], { input: draftLines(user(`use ${token}`)) })
    expect(holding(at.store, token)).toEqual(['vault.jsonl'])
    expect(at.run(['show', session]).out).toContain('use [redacted: github-token ')
    expect(at.run(['show', session, '--reveal']).out).toContain(`use ${token}`)
    expect(at.run(['context', session]).out).not.toContain(token)
  })
})

describe('retention.maxSessions in config.toml', () => {
  it('archives the oldest when a session is made', () => {
    const at = place()
    const first = at.run(['new']).out.trim()
    writeFileSync(join(at.store, 'config.toml'), '[retention]\nmaxSessions = 2\n')
    at.run(['new'])
    at.run(['new'])
    expect(at.run(['list', '--json']).json()).toHaveLength(2)
    expect(at.run(['archive', '--json']).json()).toMatchObject([{ session: first }])
    writeFileSync(join(at.store, 'config.toml'), '[retention]\nmaxSessions = 0\n')
    expect(at.run(['list']).err).toContain('retention.maxSessions should be a whole number, 1 or more')
  })
})
