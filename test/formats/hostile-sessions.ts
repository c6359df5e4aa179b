import { type Event, type EventId, noteTypes } from '../../src/events/event.js'
import { sha256 } from '../../src/events/id.js'
import type { Outgoing } from '../../src/formats/writer.js'

/** Sessions that hold what format 1 allows and no agent expects, each of one kind. */

type Members = Readonly<Record<string, unknown>>

/** A session told event by event; each `said` hangs on the one before. */
export class Tale {
  readonly events: Event[] = []
  #head: EventId
  #minute = 0

  constructor(readonly name: string) {
    this.#head = ''
    this.#head = this.put('session', {
      format: 1,
      nonce: name,
      workspace: '/home/u/proj',
      cwd: '/home/u/proj',
    })
  }

  get head(): EventId {
    return this.#head
  }

  put(type: string, members: Members, at?: string): EventId {
    const id = sha256(`${this.name} ${this.events.length}`).slice(0, 32)
    const parent = this.events.length === 0 ? null : this.#head
    const time = at ?? new Date(Date.UTC(2026, 11, 1, 9, this.#minute++)).toISOString()
    const note = noteTypes.has(type) ? { note: true as const } : {}
    this.events.push({ id, parent, at: time, type, ...note, ...members })
    if (!noteTypes.has(type)) this.#head = id
    return id
  }

  user(content: unknown, more: Members = {}): EventId {
    return this.put('message', { role: 'user', content, ...more })
  }
  says(content: unknown, more: Members = {}): EventId {
    return this.put('message', { role: 'assistant', content, ...more })
  }
  calls(...calls: readonly (readonly [id: string, name: string, given?: string])[]): EventId {
    const toolCalls = calls.map(([id, name, given = '{}']) => ({ id, name, arguments: given }))
    return this.says('calling', { toolCalls })
  }
  result(toolCallId: string, content: unknown, more: Members = {}): EventId {
    return this.put('message', { role: 'tool', toolCallId, content, ...more })
  }
  /** The head goes there; what comes next hangs on it. */
  to(target: EventId): void {
    const from = this.#head
    this.#head = target
    this.put('head', { to: target, from, reason: 'undo', row: {} })
  }
  compact(through: EventId, more: Members = {}): EventId {
    return this.put('compaction', {
      summary: `summary of ${through.slice(0, 4)}`,
      through,
      keep: [],
      ...more,
    })
  }

  outgoing(more: Partial<Outgoing> = {}): Outgoing {
    return {
      id: this.events[0]?.id ?? '',
      events: this.events,
      resolve: async (value) => value,
      head: this.#head,
      title: null,
      workspace: '/home/u/proj',
      cwd: '/home/u/proj',
      children: [],
      ...more,
    }
  }
}

const tale = (name: string, tell: (tale: Tale) => void, more: Partial<Outgoing> = {}): [string, Outgoing] => {
  const told = new Tale(name)
  tell(told)
  return [name, told.outgoing(more)]
}

const half = 'half \ud83d of a pair, and \udc00 the other'
const png = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='

const child = new Tale('child')
child.user('do a part')
child.says('done')

export const hostileSessions: readonly (readonly [string, Outgoing])[] = [
  tale(
    'half characters everywhere',
    (t) => {
      t.user(half)
      t.says([{ type: 'text', text: half }], {
        reasoning: half,
        refusal: half,
        model: half,
        provider: half,
        stop: half,
      })
      t.calls([half, half, JSON.stringify({ [half]: half })])
      const last = t.result(half, half)
      t.compact(last, { summary: half })
      t.put('label', { target: last, label: half })
      t.put('branch', { name: half })
      t.user([{ type: 'image', media: 'image/png', data: png, alt: half }])
      t.put('custom', { name: half, data: half, content: half })
      t.says('done')
    },
    { title: half },
  ),
  tale('a title that is cut within a character', (t) => {
    t.user(`${'x'.repeat(99)}\u{1f600}${'y'.repeat(99)}\u{1f600} and more`)
    t.says('yes')
  }),
  tale(
    'NULs, separators, a mark, and a megabyte',
    (t) => {
      t.user('\0 and \u2028 and \u2029 and \u0085 and \ufeff and \v\f\x1c\x1d\x1e\x7f')
      t.says('y'.repeat(1024 * 1024))
      t.calls(['call_1', 'bash', JSON.stringify({ command: '\0\u2028\ufeff' })])
      t.result('call_1', '\0'.repeat(1000))
      t.says('done')
    },
    { title: 'a title\nof two lines\u2028or three' },
  ),
  tale('nothing said in every form', (t) => {
    t.user('')
    t.user([])
    t.user(null)
    t.user([{ type: 'text', text: '' }])
    t.says(null)
    t.says('')
    t.says([])
    t.says([{ type: 'text', text: '' }], { reasoning: '' })
    t.says(null, { reasoning: [] })
    t.says('   ', { reasoning: [{ text: '' }] })
    t.calls(['call_1', 'bash', ''])
    t.result('call_1', null)
    t.calls(['call_2', 'bash', ''])
    t.result('call_2', '')
    t.calls(['call_3', 'bash', ''])
    t.result('call_3', [])
    t.says('done')
  }),
  tale('ids and names of calls that no provider takes', (t) => {
    t.user('go')
    t.calls(['', ''], ['a b', 'a.b'], ['x'.repeat(300), 'n'.repeat(300)], ['日本', '日本語'])
    for (const id of ['', 'a b', 'x'.repeat(300), '日本']) t.result(id, `result of ${id}`)
    t.calls(['a b', 'a b'], ['a_b', 'a_b'])
    t.result('a_b', 'second')
    t.result('a b', 'first')
    t.calls(['a b', 'bash'])
    t.result('a b', 'the same id for the third time')
    t.says('done')
  }),
  tale('one id for two calls of one message', (t) => {
    t.user('go')
    t.calls(['same', 'bash', '{"n":1}'], ['same', 'bash', '{"n":2}'])
    t.result('same', 'first')
    t.result('same', 'second')
    t.says('done')
  }),
  tale('results without calls, calls without results, results too late', (t) => {
    t.user('go')
    t.result('nobody', 'orphan')
    t.calls(['call_1', 'bash'], ['call_2', 'bash'], ['call_3', 'bash'])
    t.result('call_2', 'second', { ok: false })
    t.user('meanwhile')
    t.result('call_1', 'late', { ok: true })
    t.result('call_2', 'again')
    t.calls(['call_4', 'bash'])
  }),
  tale('numbers that are no counts', (t) => {
    t.user('go')
    t.says('a', { usage: { input: 1.5, output: 2.7, cacheRead: 0.1, costUsd: -1 } })
    t.says('b', { usage: { input: -5, output: -3, cacheRead: -1, cacheWrite: -1, reasoning: -2 } })
    t.says('c', { usage: { input: 1e300, output: 2 ** 60, cacheRead: 1e300 } })
    t.says('d', { usage: { input: 10, output: 1, cacheRead: 20, cacheWrite: 30, reasoning: 40 } })
    const last = t.says('e', { timing: { durationMs: 1e300, firstTokenMs: -5, reasoningMs: 2 } })
    t.compact(last, { tokensBefore: -4.5, tokensAfter: 1e300, usage: { input: -1, output: 0.5 } })
    t.calls(['call_1', 'bash'])
    t.result('call_1', 'x', { ok: true, timing: { durationMs: 1e300 } })
    t.calls(['call_2', 'bash'])
    t.result('call_2', 'x', { ok: true, timing: { durationMs: -1500.5 } })
    t.calls(['call_3', 'bash'])
    t.result('call_3', 'x', { ok: false, timing: { durationMs: 999.9999999999 } })
    t.says('done')
  }),
  tale('times that are none, or far away', (t) => {
    t.user('go')
    t.says('a', { timing: { startedAt: 'yesterday', completedAt: '', durationMs: 5 } })
    t.says('b', {
      timing: { startedAt: '2026-12-01T09:00:00+02:00', completedAt: '2026-12-01T09:00:01.123456Z' },
    })
    t.says('c', { timing: { startedAt: '+275760-09-13T00:00:00.000Z', durationMs: 3e12, reasoningMs: 3e12 } })
    t.says('d', {
      timing: { completedAt: '0000-01-01T00:00:00Z', durationMs: 3e12, firstTokenMs: 1, reasoningMs: 1 },
    })
    t.put('message', { role: 'user', content: 'before all' }, '0001-01-01T00:00:00.000Z')
    t.put('message', { role: 'assistant', content: 'after all' }, '9998-12-31T23:59:59.999Z')
    t.put('message', { role: 'user', content: 'back', timing: { durationMs: 1 } }, '1969-12-31T23:59:59.999Z')
    t.says('done')
  }),
  tale('images of every form', (t) => {
    t.user([
      { type: 'image', media: 'image/png', data: png },
      { type: 'image', media: 'image/svg+xml', data: 'PHN2Zz4=' },
      { type: 'image', media: '', data: png },
      { type: 'image', data: png },
      { type: 'image', media: 'image/png', data: 'not base64!' },
      { type: 'image', media: 'image/png', data: '' },
      { type: 'image', media: 'image/png', data: `${png.slice(0, 40)}\n${png.slice(40)}` },
      { type: 'image', url: `data:image/png;base64,${png}` },
      { type: 'image', url: 'data:image/png,raw' },
      { type: 'image', url: 'file:///etc/passwd' },
      { type: 'image', url: 'javascript:alert(1)' },
      { type: 'image', url: 'https://example.org/a.png', alt: 'an\nalt' },
      { type: 'image' },
      { type: 'document', media: 'application/pdf', data: 'JVBERi0=' },
      { type: 'audio', url: 'https://example.org/a.wav' },
      { type: 'hologram', depth: 3 },
    ])
    t.says([{ type: 'image', media: 'image/png', data: png }])
    t.calls(['call_1', 'look'])
    t.result('call_1', [
      { type: 'image', media: 'image/png', data: png },
      { type: 'text', text: '' },
    ])
    t.says('done')
  }),
  tale('compactions in compactions, and undos after', (t) => {
    const first = t.user('one')
    const second = t.says('two')
    t.compact(first)
    t.user('three')
    const fourth = t.says('four')
    t.compact(second)
    const outer = t.compact(fourth)
    t.user('five')
    t.says('six')
    t.to(second)
    t.user('another way')
    const other = t.says('there')
    t.compact(other)
    t.to(outer)
    t.user('back below the outer one')
    t.says('done')
  }),
  tale('a compaction of everything, at the end', (t) => {
    t.user('one')
    const last = t.says('two')
    t.compact(last)
  }),
  tale('undone to the root, with a branch beside', (t) => {
    const root = t.head
    t.user('one')
    t.says('two')
    t.to(root)
    t.put('branch', { name: 'other way' })
    t.user('three')
    t.says('four')
    t.to(root)
  }),
  tale('many short branches', (t) => {
    const root = t.user('go')
    for (let i = 0; i < 40; i++) {
      t.says(`way ${i}`, { model: ['gpt-5', 'claude-opus-4', '', 'local/llm'][i % 4] })
      t.calls([`call_${i}`, 'bash'])
      if (i % 2 === 0) t.result(`call_${i}`, `result ${i}`)
      t.to(root)
    }
    t.says('the last way')
  }),
  tale('everything hidden, aside, or kept from the model', (t) => {
    t.put('message', { role: 'system', content: 'Be brief.' })
    t.user('hidden', { visible: false })
    t.says('hidden too', { visible: false })
    t.user('aside', { aside: true })
    t.says('aside too', { aside: true, toolCalls: [{ id: 'c1', name: 'bash', arguments: '{}' }] })
    t.result('c1', 'aside result', { aside: true })
    t.user('kept', { context: false })
    t.says('kept too', { context: false, toolCalls: [{ id: 'c2', name: 'bash', arguments: '{}' }] })
    t.result('c2', 'kept result', { context: false })
    t.put('message', { role: 'system', content: 'Be long.' })
    t.says('done', { meta: { mark: 1 } })
  }),
  tale(
    'a sub-agent, and one of its own',
    (t) => {
      t.user('go')
      t.calls(['call_1', 'task', '{"prompt":"do a part"}'])
      t.result('call_1', 'done')
      t.says('all done')
    },
    { children: [child.outgoing({ children: [new Tale('empty grandchild').outgoing()] })] },
  ),
  tale(
    'a workspace with an odd name',
    (t) => {
      t.user('go')
      t.says('done')
    },
    {
      workspace: '/home/u/my "proj"\n日本 \u{1f600}$(x)',
      cwd: '/home/u/my "proj"\n日本 \u{1f600}$(x)/sub dir',
    },
  ),
]
