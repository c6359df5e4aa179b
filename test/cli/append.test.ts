import { describe, expect, it } from 'vitest'
import { assistant, draftLines, place, sessionWith, startIn, user } from './coppice.js'

interface Node {
  readonly id: string
  readonly parent: string | null
  readonly type: string
  readonly [member: string]: unknown
}

const logOf = ({ run }: ReturnType<typeof place>, session: string): readonly Node[] =>
  run(['log', session, '--json'])
    .out.trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as Node)
    .toReversed()

describe('append', () => {
  it('prints an id for each draft, each on its predecessor', () => {
    const here = place()
    const session = here.run(['new']).out.trim()
    const { code, out } = here.run(['append', session, '--json'], {
      input: draftLines(user('a'), assistant('b'), user('c')),
    })
    const rows = out
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as Node)
    expect(code).toBe(0)
    expect(rows.map(({ parent }) => parent)).toEqual([session, rows[0]?.id, rows[1]?.id])
    expect(rows.map((row) => Object.keys(row))).toEqual([
      ['id', 'parent'],
      ['id', 'parent'],
      ['id', 'parent'],
    ])
    expect(
      logOf(here, session)
        .slice(1)
        .map(({ id }) => id),
    ).toEqual(rows.map(({ id }) => id))
  })

  it('writes nothing of its own', () => {
    const here = place()
    const { session } = sessionWith(here, user('a'), assistant('b'))
    expect(logOf(here, session).map(({ type }) => type)).toEqual(['session', 'message', 'message'])
  })

  it('prints an id while stdin is still open', async () => {
    const here = place()
    const session = here.run(['new']).out.trim()
    const child = startIn(here.store, ['append', session])
    child.stdin.write(draftLines(user('a')))
    const first = await new Promise<string>((resolve) =>
      child.stdout.once('data', (data) => resolve(String(data))),
    )
    expect(first).toMatch(/^[0-9a-f]{32}\n$/)
    expect(logOf(here, session)).toHaveLength(2)
    child.stdin.end()
    expect(await new Promise((resolve) => child.once('exit', resolve))).toBe(0)
  })

  it('knows a note by its type, and hangs a tool note on the message that made the call', () => {
    const here = place()
    const call = { id: 'c1', name: 'bash', arguments: '{}' }
    const { session, ids } = sessionWith(
      here,
      user('go'),
      { type: 'message', role: 'assistant', content: null, toolCalls: [call] },
      { type: 'status', status: 'processing' },
      { type: 'tool', toolCallId: 'c1', state: 'started' },
      { type: 'message', role: 'tool', toolCallId: 'c1', content: 'done' },
    )
    const events = new Map(logOf(here, session).map((event) => [event.id, event]))
    expect(ids).toHaveLength(5)
    expect(events.get(ids[2] ?? '')).toMatchObject({ note: true })
    expect(events.get(ids[3] ?? '')).toMatchObject({ note: true, parent: ids[1] })
    expect(events.get(ids[4] ?? '')).toMatchObject({ parent: ids[1] })
  })

  it('takes at and parent as given; another parent begins a branch', () => {
    const here = place()
    const { session, ids } = sessionWith(here, user('a'), assistant('b'))
    const at = '2031-01-02T03:04:05.678Z'
    const { out } = here.run(['append', session, '--json'], {
      input: draftLines({ ...user('c'), parent: ids[0], at }),
    })
    const row = JSON.parse(out) as Node
    expect(out.trimEnd().split('\n')).toHaveLength(1)
    const events = logOf(here, session)
    expect(events.map(({ type }) => type)).toEqual(['session', 'message', 'message', 'head', 'message'])
    expect(events.at(-1)).toMatchObject({ id: row.id, at })
    expect(events.at(-2)).toMatchObject({
      type: 'head',
      parent: ids[0],
      to: ids[0],
      from: ids[1],
      reason: 'branch',
    })
    expect(here.run(['context', session]).json()).toEqual([
      { role: 'user', content: 'a' },
      { role: 'user', content: 'c' },
    ])
  })

  it('keeps unknown types and members', () => {
    const here = place()
    const { session } = sessionWith(
      here,
      { type: 'x-own.kind', deep: { a: [1, null] } },
      { ...user('a'), extra: 1 },
    )
    expect(logOf(here, session).slice(1)).toMatchObject([
      { type: 'x-own.kind', deep: { a: [1, null] } },
      { extra: 1 },
    ])
  })

  it('passes over empty lines; the last line needs no newline', () => {
    const here = place()
    const session = here.run(['new']).out.trim()
    const input = `\n${draftLines(user('a'))}\r\n\n${JSON.stringify(user('b'))}`
    expect(here.run(['append', session], { input }).out.trimEnd().split('\n')).toHaveLength(2)
  })

  it.each([
    ['no JSON', '{"type":', /line 2: .*|bad draft: it is no JSON/],
    ['no object', '[1]', /should be a JSON object/],
    ['no type', '{"role":"user"}', /type should/],
    ['a wrong role', '{"type":"message","role":"nobody","content":"x"}', /role should be/],
    ['no content', '{"type":"message","role":"user"}', /content should be/],
    ['a reserved member', '{"type":"message","role":"user","content":"x","id":"1"}', /id is reserved/],
    [
      'a time that is none',
      '{"type":"message","role":"user","content":"x","at":"yesterday"}',
      /at should be/,
    ],
    [
      'a session',
      '{"type":"session","format":1,"nonce":"a","workspace":"/","cwd":"/"}',
      /append takes no session/,
    ],
    [
      'a head',
      `{"type":"head","to":"${'a'.repeat(32)}","from":"${'a'.repeat(32)}","reason":"undo","row":{}}`,
      /append takes no head/,
    ],
    ['a head that lacks members', '{"type":"head"}', /append takes no head/],
    ['a recovered', '{"type":"recovered","gaps":[]}', /append takes no recovered/],
    ['a redaction', '{"type":"redaction","ids":[],"reason":"x"}', /append takes no redaction/],
    [
      'a parent that is not there',
      `{"type":"message","role":"user","content":"x","parent":"${'a'.repeat(32)}"}`,
      /a{32}/,
    ],
    [
      'a compaction of nothing',
      `{"type":"compaction","summary":"x","through":"${'a'.repeat(32)}"}`,
      /bad draft/,
    ],
  ])('stops at %s with the line, and keeps what came before', (_what, bad, reason) => {
    const here = place()
    const session = here.run(['new']).out.trim()
    const input = `${draftLines(user('before'))}${bad}\n${draftLines(user('after'), user('after'))}`
    const { code, out, err } = here.run(['append', session], { input })
    expect({ code, err }).toEqual({
      code: 1,
      err: expect.stringMatching(/^coppice: bad draft: [^\n]*: stdin, line 2: [^\n]+\n$/),
    })
    expect(err).toMatch(reason)
    expect(out).toMatch(/^[0-9a-f]{32}\n$/)
    expect(logOf(here, session).map(({ content }) => content)).toEqual([undefined, 'before'])
  })

  it('stops at invalid UTF-8', () => {
    const here = place()
    const session = here.run(['new']).out.trim()
    const input = Buffer.concat([
      Buffer.from(draftLines(user('a'))),
      Buffer.from('{"type":"message","role":"user","content":"\xff"}\n', 'latin1'),
    ])
    const { code, err } = here.run(['append', session], { input })
    expect({ code, err }).toEqual({ code: 1, err: expect.stringMatching(/it is no UTF-8: stdin, line 2/) })
    expect(logOf(here, session)).toHaveLength(2)
  })

  it('keeps every character, lone surrogates and line separators too', () => {
    const here = place()
    const text = 'a\u2028b\u2029c\u0085d\ufeffe\ud800f\0g漢字😀"\\\n\r'
    const { session } = sessionWith(here, user(text))
    expect(here.run(['context', session]).json()).toEqual([{ role: 'user', content: text }])
  })

  it('takes a line of 100 MB', () => {
    const here = place()
    const session = here.run(['new']).out.trim()
    const text = 'x'.repeat(100_000_000)
    const { code, out } = here.run(['append', session], { input: draftLines(user(text), user('after')) })
    expect(code).toBe(0)
    expect(out.trimEnd().split('\n')).toHaveLength(2)
    const [first] = here.run(['context', session]).json() as readonly { content: string }[]
    expect(first?.content.length).toBe(text.length)
    expect(here.run(['verify']).code).toBe(0)
  })

  it('keeps order and count of many lines', () => {
    const here = place()
    const texts = Array.from({ length: 3000 }, (_, i) => `message ${i}`)
    const { session, ids } = sessionWith(here, ...texts.map(user))
    expect(new Set(ids).size).toBe(3000)
    expect(
      (here.run(['context', session]).json() as readonly { content: string }[]).map(({ content }) => content),
    ).toEqual(texts)
  })
})
