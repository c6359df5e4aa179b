import { describe, expect, it } from 'vitest'
import type { Session, Store } from '../../src/session/api.js'
import { assistant, contextOf, memoryStore, newSession, refusal, say, textsOf, user } from './stores.js'

const begun = async (): Promise<{ store: Store; session: Session }> => {
  const store = await memoryStore()
  return { store, session: await newSession(store) }
}
const shown = async (store: Store, { id }: Session) => ({
  texts: await textsOf(store, id),
  context: await contextOf(store, id),
})
const rowOf = async (store: Store, { id }: Session) => (await store.reader(id)).row()

describe('undo and redo', () => {
  it('go to just before the prompt, and back: the identity, several levels deep', async () => {
    const { store, session } = await begun()
    const prompts = []
    for (let i = 0; i < 4; i++) {
      prompts.push(await say(session, user(`prompt ${i}`)))
      await say(session, assistant(`answer ${i}`))
    }
    const states = [await shown(store, session)]
    for (const prompt of prompts.toReversed().slice(0, 3)) {
      const undone = await session.undo(prompt.id)
      expect(undone).toEqual({ files: [], head: prompt.parent, prompt: prompt.content })
      states.push(await shown(store, session))
    }
    expect(states.at(-1)?.texts).toEqual(['prompt 0', 'answer 0'])
    for (const state of states.slice(0, -1).toReversed()) {
      await session.redo()
      expect(await shown(store, session)).toEqual(state)
    }
    expect(await refusal(session.redo())).toMatchObject({ tag: 'Refused', conflict: true })
    expect((await rowOf(store, session)).diverged).toEqual([])
  })

  it('redo passes what changes no context, and an undo of an undone branch', async () => {
    const { store, session } = await begun()
    await say(session, user('one'))
    const two = await say(session, user('two'))
    await session.undo(two.id)
    await session.append([
      { type: 'checkpoint', reason: 'manual', commit: 'c' },
      { type: 'custom', name: 'x', data: 1 },
    ])
    await session.redo()
    expect(await textsOf(store, session.id)).toEqual(['one', 'two'])
  })

  it('a redo that is refused names no `head` event: where an undo left one, what stands above it', async () => {
    const { session } = await begun()
    const one = await say(session, user('one'))
    const two = await say(session, user('two'))
    await session.undo(two.id)
    await session.redo()
    await session.undo(one.id)
    await say(session, user('other'))
    const error = await refusal(session.redo())
    expect(error.message).toContain(`coppice checkout SESSION ${two.id}`)
  })

  it('a redo after the conversation went on is a conflict that names what to check out', async () => {
    const { store, session } = await begun()
    const one = await say(session, user('one'))
    const answer = await say(session, assistant('answer'))
    await session.undo(one.id)
    await say(session, user('other'))
    const error = await refusal(session.redo())
    expect(error).toMatchObject({ tag: 'Refused', conflict: true })
    expect(error.message).toContain(answer.id)
    expect((await session.checkout(answer.id)).head).toBe(answer.id)
    expect(await textsOf(store, session.id)).toEqual(['one', 'answer'])
  })

  it('refuse what is no prompt of the branch', async () => {
    const { session } = await begun()
    const one = await say(session, user('one'))
    const answer = await say(session, assistant('answer'))
    const aside = await say(session, user('aside', { aside: true }))
    for (const target of [session.id, answer.id, aside.id, 'f'.repeat(32)])
      expect((await refusal(session.undo(target))).tag).toBe('Refused')
    await session.undo(one.id)
    expect((await refusal(session.undo(one.id))).tag).toBe('Refused')
  })

  it('gives back the whole prompt, also where it lies in a blob', async () => {
    const { session } = await begun()
    const long = 'é'.repeat(50_000)
    const one = await say(
      session,
      user([
        { type: 'text', text: long },
        { type: 'text', text: 'end' },
      ]),
    )
    expect((await session.undo(one.id)).prompt).toBe(`${long}\nend`)
  })

  it.each(['ask_permission', 'waiting_for_user'] as const)(
    'an undo turns %s into completed; any other status stays',
    async (status) => {
      const { store, session } = await begun()
      const one = await say(session, user('one'))
      await session.append({ type: 'status', status })
      expect((await rowOf(store, session)).status).toBe(status)
      await session.undo(one.id)
      expect((await rowOf(store, session)).status).toBe('completed')
      await session.redo()
      await session.append({ type: 'status', status: 'failed', reason: 'x' })
      await session.undo(one.id)
      expect(await rowOf(store, session)).toMatchObject({ status: 'failed', reason: 'x' })
    },
  )

  it('keep their order with appends that are not waited for', async () => {
    const { store, session } = await begun()
    const one = await say(session, user('one'))
    await Promise.all([
      session.undo(one.id),
      session.append(user('two')),
      session.checkout(one.id),
      session.append(user('three')),
    ])
    expect(await textsOf(store, session.id)).toEqual(['one', 'three'])
  })
})

describe('checkout and branches', () => {
  it('a checkout to where the conversation stands writes nothing', async () => {
    const { store, session } = await begun()
    const one = await say(session, user('one'))
    const two = await say(session, user('two'))
    await session.checkout(two.id)
    expect(session.position).toBe(two.id)
    await session.checkout(one.id)
    const position = session.position
    await session.checkout(one.id)
    expect(session.position).toBe(position)
    expect(
      (await (await store.reader(session.id)).events()).filter(({ type }) => type === 'head'),
    ).toHaveLength(1)
  })

  it('a branch elsewhere begins with a head event, its name is what its events are on', async () => {
    const { store, session } = await begun()
    const one = await say(session, user('one'))
    await say(session, user('two'))
    await session.branch('other', one.id)
    await say(session, user('three'))
    const reader = await store.reader(session.id)
    const events = await reader.events()
    expect(events.slice(-3).map(({ type }) => type)).toEqual(['head', 'branch', 'message'])
    expect(await reader.resolve('other')).toBe(session.position)
    expect(await reader.resolve('main')).toBe(events[2]?.id)
    expect(await rowOf(store, session)).toMatchObject({ branches: 2, diverged: [] })
    for (const name of ['', 'abc123', '@x'])
      expect((await refusal(session.branch(name))).tag).toBe('InvalidDraft')
  })

  it('the row carries the branch’s own members along: last words, calls and active tokens', async () => {
    const { store, session } = await begun()
    const one = await say(session, user('one'))
    await say(session, assistant('hello', { usage: { input: 5, output: 2 }, reasoning: 'r' }))
    const two = await say(session, user('two'))
    await say(session, assistant('bye', { usage: { input: 9, output: 9 } }))
    await session.undo(two.id)
    expect(await rowOf(store, session)).toMatchObject({
      lastAssistant: 'hello',
      lastReasoning: 'r',
      activeTokens: 7,
    })
    await session.undo(one.id)
    expect(await rowOf(store, session)).toMatchObject({ lastAssistant: null, activeTokens: 0 })
    await session.redo()
    await session.redo()
    expect(await rowOf(store, session)).toMatchObject({ lastAssistant: 'bye', activeTokens: 18 })
    expect((await rowOf(store, session)).usage.total).toMatchObject({ input: 14, output: 11 })
  })
})

describe('titles', () => {
  it('auto replaces neither the user’s nor an import’s, an import not the user’s, and nobody else is told no', async () => {
    const { store, session } = await begun()
    const title = async () => {
      const { title, titleBy } = await rowOf(store, session)
      return [title, titleBy]
    }
    expect(await title()).toEqual(['New session', null])
    await say(session, user('  what   is\nthis? '))
    expect(await title()).toEqual(['what is this?', null])
    expect(await session.title('auto', 'auto')).toBe(true)
    expect(await session.title('auto 2', 'auto')).toBe(true)
    expect(await session.title('imported', 'import')).toBe(true)
    expect(await session.title('auto 3', 'auto')).toBe(false)
    expect(await title()).toEqual(['imported', 'import'])
    expect(await session.title('mine')).toBe(true)
    expect(await session.title('imported', 'import')).toBe(false)
    expect(await session.title('auto 4', 'auto')).toBe(false)
    await session.append({ type: 'title', title: 'auto 5', by: 'auto' })
    expect(await title()).toEqual(['mine', 'user'])
    for (const bad of ['', ' x', 'x'.repeat(201)])
      expect((await refusal(session.title(bad))).tag).toBe('InvalidDraft')
    expect((await refusal(store.create({ workspace: '/w', title: 'x'.repeat(10_000) }))).tag).toBe(
      'InvalidDraft',
    )
  })
})

describe('an event’s name', () => {
  it('is its id, a prefix, a label, a branch, @ or @^', async () => {
    const { store, session } = await begun()
    const one = await say(session, user('one'))
    const two = await say(session, assistant('two'))
    await session.label(one.id, 'here')
    await session.label(two.id, 'gone')
    await session.label(two.id, null)
    const reader = await store.reader(session.id)
    for (const name of [one.id, one.id.slice(0, 12), 'here', '@^'])
      expect(await reader.resolve(name)).toBe(one.id)
    for (const name of ['@', 'main']) expect(await reader.resolve(name)).toBe(two.id)
    for (const name of ['gone', 'f'.repeat(32), 'fff', '../x', ''])
      expect((await refusal(reader.resolve(name))).tag).toBe('NotFound')
    for (const at of ['f'.repeat(32), 'x'])
      for (const read of [reader.context({ at }), reader.messages({ at }), reader.path({ at })])
        expect((await refusal(read)).tag).toBe('NotFound')
  })
})
