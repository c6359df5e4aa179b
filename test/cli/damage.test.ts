import { appendFileSync, existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { assistant, draftLines, place, sessionWith, user } from './coppice.js'

const logOf = (store: string, session: string): string => {
  const projects = join(store, 'projects')
  const key = readdirSync(projects).find((name) => existsSync(join(projects, name, session)))
  return join(projects, key ?? '', session, 'data.jsonl')
}

/** Made when it is first asked for, and shared: these tests only read. The last of each group changes it. */
const once = <T>(make: () => T): (() => T) => {
  let made: { readonly value: T } | undefined
  return () => {
    made ??= { value: make() }
    return made.value
  }
}

const readers = ['show', 'log', 'context', 'tree', 'replay'] as const
const talk = [user('one'), assistant('two'), user('three'), assistant('four')]

describe('a torn tail', () => {
  const torn = once(() => {
    const here = place()
    const { session } = sessionWith(here, ...talk)
    appendFileSync(logOf(here.store, session), '{"id":"0123')
    return { ...here, session }
  })

  it.each(readers)('is a warning for %s, and exit 0', (command) => {
    const { run, session } = torn()
    const { code, out, err } = run([command, session])
    expect(code).toBe(0)
    expect(out).toContain('four')
    expect(err).toMatch(/^coppice: warning: torn tail: [^\n]*byte \d+[^\n]*\n$/)
  })

  it('is a problem for verify until the next append names it', () => {
    const { run, session } = torn()
    const report = run(['verify', '--json'])
    expect(report.code).toBe(4)
    expect(report.json()).toMatchObject({
      problems: [{ session, kind: 'torn-tail', line: 6, offset: expect.any(Number) }],
    })
    const { out } = run(['append', session], { input: draftLines(user('five')) })
    expect(out).toMatch(/^[0-9a-f]{32}\n$/)
    expect(run(['verify', '--json'])).toMatchObject({ code: 0 })
    expect(run(['log', session, '--json']).out).toContain('"type":"recovered"')
  })
})

describe('a byte that changed in the middle', () => {
  const damaged = once(() => {
    const here = place()
    const { session, ids } = sessionWith(here, ...talk)
    const path = logOf(here.store, session)
    writeFileSync(path, readFileSync(path, 'utf8').replace('"two"', '"tWo"'))
    return { ...here, session, ids, path }
  })

  it.each([...readers, 'export'])('stops %s with line and byte, exit 4', (command) => {
    const { run, session } = damaged()
    const { code, err } = run([command, session, ...(command === 'export' ? ['jsonl', '-'] : [])])
    expect(code).toBe(4)
    expect(err).toMatch(/^coppice: damaged log [^\n]*line \d+, byte \d+: [^\n]*--salvage[^\n]*\n$/)
  })

  it.each(readers)(
    'is read past by %s --salvage, which lists what it skipped, exit 4 all the same',
    (command) => {
      const { run, session } = damaged()
      const { code, out, err } = run([command, session, '--salvage'])
      expect(code).toBe(4)
      expect(out).toContain('four')
      expect(out).not.toContain('tWo')
      expect(err).toMatch(/^coppice: skipped \d+ bytes [^\n]*line 3, byte \d+/)
    },
  )

  it('is found by verify, does not hide the session, and refuses writes', () => {
    const { run, session } = damaged()
    const report = run(['verify', '--json'])
    expect(report.code).toBe(4)
    const { problems } = report.json() as { problems: readonly unknown[] }
    expect(problems[0]).toMatchObject({ session, kind: 'undecodable', line: 3, offset: expect.any(Number) })
    expect(
      (run(['list', '--json']).json() as readonly { session: string }[]).map((row) => row.session),
    ).toEqual([session])
    const { code, err } = run(['append', session], { input: draftLines(user('five')) })
    expect(code).toBe(4)
    expect(err).toContain('repair')
  })

  it('leaves no half-written export', () => {
    const { run, session, workspace } = damaged()
    expect(run(['export', session, 'jsonl', 'out/a.jsonl']).code).toBe(4)
    expect(readdirSync(join(workspace, 'out'))).toEqual([])
  })

  it('is repaired: what is whole stays, what is lost is told', () => {
    const { run, session, ids } = damaged()
    const { kept, lost } = run(['repair', session, '--json']).json() as {
      kept: number
      lost: readonly unknown[]
    }
    expect({ kept, lost: lost.length }).toEqual({ kept: 4, lost: 1 })
    expect(run(['verify', session])).toMatchObject({ code: 0 })
    const shown = run(['show', session, '--json']).json() as readonly { id: string }[]
    expect(shown.map(({ id }) => id)).toEqual(expect.arrayContaining([ids[0], ids[2], ids[3]]))
    expect(run(['append', session], { input: draftLines(user('five')) }).code).toBe(0)
  })
})

describe('a hole that a power cut left, with lines after it', () => {
  const holed = once(() => {
    const here = place()
    const { session, ids } = sessionWith(here, ...talk)
    const path = logOf(here.store, session)
    const bytes = readFileSync(path)
    const at = bytes.indexOf('"two"')
    writeFileSync(path, bytes.fill(0, at - 6, at))
    return { ...here, session, ids, path }
  })

  it.each([...readers, 'export'])('stops %s with exit 4, and says what hangs on it', (command) => {
    const { run, session } = holed()
    const { code, out, err } = run([command, session, ...(command === 'export' ? ['jsonl', '-'] : [])])
    expect(code).toBe(4)
    expect(out).not.toContain('"four"')
    expect(err).toMatch(
      /^coppice: damaged log \(gap\): [^\n]*2 lines [^\n]*line 3, byte \d+: [^\n]*repair[^\n]*\n$/,
    )
  })

  it.each(readers)('is read past by %s --salvage, with all that hangs on it, exit 4', (command) => {
    const { run, session } = holed()
    const { code, out, err } = run([command, session, '--salvage'])
    expect(code).toBe(4)
    expect(out).toContain('four')
    expect(err).toMatch(/^coppice: skipped \d+ bytes \(gap\): [^\n]*line 3, byte \d+: [^\n]*\n$/)
  })

  it('bars appends while the index knows what hangs on it, and is repaired with all of that', () => {
    const { run, session, ids } = holed()
    expect(run(['append', session], { input: draftLines(user('five')) })).toMatchObject({
      code: 4,
      err: expect.stringContaining('log-lost-tail'),
    })
    expect(run(['repair', session, '--json']).json()).toEqual({
      kept: 4,
      lost: [{ id: ids[1], parent: ids[0], guessed: false }],
      lostTail: null,
    })
    expect(run(['verify', session]).code).toBe(0)
    expect(run(['show', session]).out).toContain('four')
  })

  it('on which nothing hangs is a warning, and exit 0', () => {
    const here = place()
    const { session, ids } = sessionWith(here, ...talk)
    expect(here.run(['label', session, ids[3] ?? '', 'end']).code).toBe(0)
    const path = logOf(here.store, session)
    const bytes = readFileSync(path)
    here.run(['label', session, ids[0] ?? '', 'begin'])
    const whole = readFileSync(path)
    writeFileSync(path, whole.fill(0, bytes.length - 20, bytes.length - 10))
    const { code, out, err } = here.run(['show', session])
    expect({ code, err }).toEqual({
      code: 0,
      err: expect.stringMatching(/^coppice: warning: gap: [^\n]*the next append names them\n$/),
    })
    expect(out).toContain('four')
  })
})

describe('a flipped last byte, where the index knows the last event', () => {
  const flipped = once(() => {
    const here = place()
    const { session, ids } = sessionWith(here, ...talk)
    const path = logOf(here.store, session)
    const bytes = readFileSync(path)
    bytes[bytes.length - 2] = (bytes[bytes.length - 2] as number) ^ 1
    writeFileSync(path, bytes)
    return { ...here, session, last: ids[3] as string }
  })

  it.each(readers)('is a warning of %s that says which event is gone, and promises no append', (command) => {
    const { run, session, last } = flipped()
    const { code, err } = run([command, session])
    const [torn, lost, ...rest] = err.split('\n')
    expect(code).toBe(0)
    expect(torn).toMatch(/^coppice: warning: torn tail: [^\n]* are ignored$/)
    expect(lost).toContain(`warning: log-lost-tail: the last known event ${last} is no longer in the log`)
    expect(rest).toEqual([''])
  })

  it('is listed, and repaired: which event was lost is told, and the log goes on', () => {
    const { run, session, last } = flipped()
    expect(run(['list']).out).toContain('lost its end')
    expect(run(['append', session], { input: draftLines(user('five')) }).code).toBe(4)
    const { code, out } = run(['repair', session])
    expect(code).toBe(0)
    expect(out).toContain(`lost: ${last}, the last event that the index knew of`)
    expect(run(['append', session], { input: draftLines(user('five')) }).code).toBe(0)
    expect(run(['verify', session]).code).toBe(0)
    expect(run(['show', session])).toMatchObject({ code: 0, err: '', out: expect.stringContaining('five') })
  })
})

describe('a blob that is gone', () => {
  it('stops show and context with exit 4; salvaged, words stand in its place, and it is told', () => {
    const here = place()
    const { session } = sessionWith(here, user('x'.repeat(70_000)), assistant('four'))
    rmSync(join(logOf(here.store, session), '../blobs'), { recursive: true })
    for (const command of ['show', 'context']) {
      expect(here.run([command, session])).toMatchObject({
        code: 4,
        err: expect.stringContaining('--salvage'),
      })
      const { code, out, err } = here.run([command, session, '--salvage'])
      expect({ code, err }).toEqual({
        code: 4,
        err: expect.stringMatching(/^coppice: skipped 70000 bytes \(blob\): [^\n]* is missing[^\n]*\n$/),
      })
      expect(out).toContain('[blob missing]')
      expect(out).toContain('four')
    }
  })
})

describe('a log that is gone', () => {
  it('is damage for every command, and exit 4', () => {
    const here = place()
    const { session } = sessionWith(here, ...talk)
    rmSync(logOf(here.store, session))
    for (const command of [...readers, 'repair', 'append'])
      expect(here.run([command, session])).toMatchObject({
        code: 4,
        out: '',
        err: expect.stringMatching(
          /^coppice: damaged log \(no-root\): [^\n]*: take the log from a backup\n$/,
        ),
      })
    const { code, json } = here.run(['verify', session, '--json'])
    expect(code).toBe(4)
    expect(json()).toMatchObject({ problems: [{ session, kind: 'no-root', line: 1, offset: 0 }] })
  })
})

describe('caches', () => {
  it('may be gone or wrong, and nothing that is shown changes (INV-8)', () => {
    const here = place()
    const { session } = sessionWith(here, ...talk)
    const list = here.run(['list', '--json']).out
    const index = join(logOf(here.store, session), '../../metadata.jsonl')
    for (const content of ['', 'nonsense\n', readFileSync(index, 'utf8').replace('one', 'owe')]) {
      writeFileSync(index, content)
      expect(here.run(['list', '--json']).out).toBe(list)
    }
  })
})

describe('a line that was taken out of the middle', () => {
  it.each(readers)('stops %s with exit 4', (command) => {
    const here = place()
    const { session } = sessionWith(here, ...talk)
    const path = logOf(here.store, session)
    const lines = readFileSync(path, 'utf8').split('\n')
    writeFileSync(path, lines.filter((line) => !line.includes('"two"')).join('\n'))
    const { code, err } = here.run([command, session])
    expect({ code, err }).toEqual({
      code: 4,
      err: expect.stringMatching(/missing-parent.* line 3, byte \d+/),
    })
    const salvaged = here.run([command, session, '--salvage'])
    expect(salvaged).toMatchObject({ code: 4, err: expect.stringContaining('missing-parent') })
    expect(salvaged.out).toContain('four')
  })
})
