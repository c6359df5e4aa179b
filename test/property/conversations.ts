import fc from 'fast-check'
import { type Event, type EventId, noteTypes } from '../../src/events/event.js'
import { sha256 } from '../../src/events/id.js'
import type { Outgoing } from '../../src/formats/writer.js'

/** Sessions as people and agents make them, with all that can go wrong: for writers of other formats. */

const hostile = fc.constantFrom(
  '\u2028 and \u2029',
  '\ud800',
  'NUL \0 here',
  '\uFEFF{"type":"user"}',
  '\n\n',
  '  ',
  '[Request interrupted by user]',
  '<environment_context>\n</environment_context>',
  '[image]',
  '</summary>',
  '__proto__',
  'Caveat: \u0085 "quotes" \\u0000 \\',
)
const text = fc.oneof(fc.string({ unit: 'grapheme', maxLength: 30 }), fc.lorem({ maxCount: 4 }), hostile)

const png = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='
const part = fc.oneof(
  { weight: 4, arbitrary: fc.record({ type: fc.constant('text'), text }) },
  fc.record({ type: fc.constant('image'), media: fc.constant('image/png'), data: fc.constant(png) }),
  fc.record({ type: fc.constant('image'), url: fc.constant('https://example.org/a.png') }),
  fc.record({
    type: fc.constant('document'),
    media: fc.constant('application/pdf'),
    data: fc.constant('JVBERi0='),
  }),
  fc.record({ type: fc.constant('audio'), media: fc.constant('audio/wav'), data: fc.constant('UklGRg==') }),
  fc.record({ type: fc.constant('video'), url: fc.constant('https://example.org/a.mp4') }),
)
const content = fc.oneof({ weight: 3, arbitrary: text }, fc.array(part, { minLength: 1, maxLength: 3 }))

const call = fc.record({
  id: fc.option(fc.constantFrom('call|1', 'a b', 'call_1', 'toolu_01'), { nil: undefined, freq: 3 }),
  name: fc.constantFrom('bash', 'read', 'functions.exec:1', 'edit'),
  arguments: fc.oneof(
    fc.json({ maxDepth: 2 }).filter((json) => json.startsWith('{') && !json.includes('__proto__')),
    fc.constantFrom('', '{}', '[1]', 'not json', '"text"'),
  ),
})
const reasoning = fc.oneof(
  text,
  fc.array(fc.record({ text, signature: fc.constant('c2lnbmF0dXJl') }, { requiredKeys: ['text'] }), {
    minLength: 1,
    maxLength: 2,
  }),
)
const flag = (value: boolean) => fc.option(fc.constant(value), { nil: undefined, freq: 2 })

/** What happens next. Numbers choose among what is there by then. */
const happening = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({
      does: fc.constant('prompts' as const),
      content,
      visible: flag(false),
      aside: flag(true),
    }),
  },
  {
    weight: 6,
    arbitrary: fc.record({
      does: fc.constant('answers' as const),
      content: fc.oneof({ weight: 3, arbitrary: content }, fc.constant(null)),
      calls: fc.array(call, { maxLength: 2 }),
      reasoning: fc.option(reasoning, { nil: undefined, freq: 2 }),
      refusal: fc.option(text, { nil: undefined, freq: 1 }),
      model: fc.constantFrom('claude-sonnet-4-5', 'gpt-5', undefined),
      provider: fc.constantFrom('anthropic', 'openai', undefined),
      stop: fc.constantFrom('stop', 'length', 'toolUse', 'odd', undefined),
      usage: fc.constantFrom({ input: 10, output: 5, cacheRead: 2, costUsd: 0.1 }, undefined),
      context: flag(false),
      grouped: fc.boolean(),
    }),
  },
  {
    weight: 5,
    arbitrary: fc.record({
      does: fc.constant('results' as const),
      of: fc.nat(),
      content,
      ok: fc.constantFrom(true, false, undefined),
    }),
  },
  fc.record({ does: fc.constant('system' as const), content: text }),
  fc.record({ does: fc.constant('compacts' as const), summary: text, back: fc.nat(6) }),
  fc.record({ does: fc.constant('moves' as const), to: fc.nat() }),
  fc.record({ does: fc.constant('edits' as const), target: fc.nat(), replacement: fc.option(text) }),
  fc.record({
    does: fc.constant('notes' as const),
    note: fc.constantFrom('title', 'label', 'status', 'usage'),
  }),
  fc.record({ does: fc.constant('own' as const), content: fc.option(text) }),
)
export type Happening = typeof happening extends fc.Arbitrary<infer T> ? T : never

export const happenings = fc.array(happening, { minLength: 1, maxLength: 25 })

class Story {
  readonly events: Event[] = []
  readonly #parents = new Map<EventId, EventId | null>()
  #at = Date.UTC(2027, 11, 1, 9)
  #head: EventId

  /** Goes on from the head of `base`, or begins a session. */
  constructor(
    readonly seed: string,
    base?: Outgoing,
  ) {
    for (const event of base?.events ?? []) {
      this.events.push(event)
      if (event.note !== true) this.#parents.set(event.id, event.parent)
    }
    const root = { format: 1, nonce: seed, workspace: '/home/u/proj', cwd: '/home/u/proj' }
    this.#head = base?.head ?? this.#add('session', root, null)
  }

  get head(): EventId {
    return this.#head
  }

  take(happening: Happening): void {
    const { does, ...given } = happening
    const said = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined))
    if (happening.does === 'prompts') this.#append('message', { role: 'user', ...said })
    else if (happening.does === 'system') this.#append('message', { role: 'system', ...said })
    else if (happening.does === 'answers') this.#answer(happening)
    else if (happening.does === 'results') this.#result(happening)
    else if (happening.does === 'compacts') this.#compact(happening)
    else if (happening.does === 'moves') this.#move(happening.to)
    else if (happening.does === 'edits') this.#edit(happening)
    else if (happening.does === 'own')
      this.#append('custom', {
        name: 'other:thing',
        data: 1,
        ...(happening.content === null ? {} : { content: happening.content }),
      })
    else this.#note(happening.note)
  }

  #add(type: string, payload: object, parent: EventId | null): EventId {
    this.#at += 1000
    const at = new Date(this.#at).toISOString()
    const id = sha256(`${this.seed} ${this.events.length}`).slice(0, 32)
    const note = noteTypes.has(type) ? { note: true as const } : {}
    this.events.push({ id, parent, at, type, ...note, ...payload })
    if (!noteTypes.has(type)) this.#parents.set(id, parent)
    return id
  }

  #append(type: string, payload: object): void {
    this.#head = this.#add(type, payload, this.#head)
  }

  #path(): readonly Event[] {
    const byId = new Map(this.events.map((event) => [event.id, event]))
    const path: Event[] = []
    for (let at: EventId | null = this.#head; at !== null; at = this.#parents.get(at) ?? null)
      path.unshift(byId.get(at) as Event)
    return path
  }

  #answer({ does: _does, calls, grouped, ...said }: Extract<Happening, { does: 'answers' }>): void {
    const toolCalls = calls.map(({ id, ...one }, i) => ({
      id: id ?? `call_${this.events.length}_${i}`,
      ...one,
    }))
    const unique = toolCalls.filter(({ id }, i) => toolCalls.findIndex((one) => one.id === id) === i)
    const members = Object.fromEntries(Object.entries(said).filter(([, value]) => value !== undefined))
    this.#append('message', {
      role: 'assistant',
      ...members,
      ...(unique.length === 0 ? {} : { toolCalls: unique }),
      ...(grouped ? { group: 'group' } : {}),
    })
  }

  #result({ of, content, ok }: Extract<Happening, { does: 'results' }>): void {
    const calls = this.#path().flatMap(({ toolCalls }) => (toolCalls ?? []) as { id: string }[])
    const id = calls.length === 0 || of % 7 === 0 ? 'nobody' : (calls[of % calls.length]?.id ?? '')
    this.#append('message', { role: 'tool', toolCallId: id, content, ...(ok === undefined ? {} : { ok }) })
  }

  /** Covers up to an event before which every call has its result, and no less than an earlier compaction. */
  #compact({ summary, back }: Extract<Happening, { does: 'compacts' }>): void {
    const path = this.#path()
    const before = path.findLast(({ type }) => type === 'compaction')?.through
    const least = Math.max(
      1,
      path.findIndex(({ id }) => id === before),
    )
    for (let at = path.length - 1 - back; at >= least; at--) {
      const covered = path.slice(0, at + 1)
      const open = new Set<string>()
      for (const { role, toolCalls, toolCallId } of covered) {
        if (role === 'assistant') for (const { id } of (toolCalls ?? []) as { id: string }[]) open.add(id)
        if (role === 'tool') open.delete(String(toolCallId))
      }
      const through = path[at]
      const later = path
        .slice(at + 1)
        .some(
          ({ role, toolCallId }) =>
            role === 'tool' &&
            covered.some((one) => JSON.stringify(one.toolCalls ?? []).includes(JSON.stringify(toolCallId))),
        )
      if (open.size > 0 || later || through === undefined || through.type === 'head') continue
      const keep = covered.flatMap(({ id, type, role, content }) =>
        type === 'message' && role === 'system' ? [{ id, message: { role, content } }] : [],
      )
      this.#append('compaction', {
        summary: summary || 'summary',
        through: through.id,
        keep,
        tokensBefore: 10,
        tokensAfter: 5,
      })
      return
    }
  }

  #move(to: number): void {
    const nodes = this.events.filter(({ note, type }) => note !== true && type !== 'head')
    const target = nodes[to % nodes.length]
    if (target === undefined || target.id === this.#head) return
    this.#head = this.#add(
      'head',
      { to: target.id, from: this.#head, reason: 'checkout', row: {} },
      target.id,
    )
  }

  #edit({ target, replacement }: Extract<Happening, { does: 'edits' }>): void {
    const messages = this.#path().filter(({ type }) => type === 'message')
    const message = messages[target % Math.max(1, messages.length)]
    if (message !== undefined) this.#append('edit', { target: message.id, replacement })
  }

  #note(note: 'title' | 'label' | 'status' | 'usage'): void {
    const payloads = {
      title: { title: 'A title', by: 'user' },
      label: { target: this.#head, label: 'here' },
      status: { status: 'completed' },
      usage: { for: 'title', usage: { input: 1, output: 1 } },
    }
    const { type } = this.events.find(({ id }) => id === this.#head) ?? {}
    if (type !== 'head') this.#add(note, payloads[note], this.#head)
  }
}

/** The session that these make, beginning with nothing, or going on with another. */
export const outgoingStory = (seed: string, story: readonly Happening[], base?: Outgoing): Outgoing => {
  const told = new Story(seed, base)
  for (const one of story) told.take(one)
  const title = told.events.some(({ title: given }) => given === 'A title') ? 'A title' : null
  if (base !== undefined) return { ...base, events: told.events, head: told.head, title: title ?? base.title }
  return {
    id: told.events[0]?.id ?? '',
    events: told.events,
    resolve: async (value) => value,
    head: told.head,
    title,
    workspace: '/home/u/proj',
    cwd: '/home/u/proj',
    children: [],
  }
}
