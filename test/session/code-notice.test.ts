import { describe, expect, it } from 'vitest'
import { ask, begin, edit, eventsOf, withPlace } from './code-place.js'
import { assistant, contextOf, say, textsOf, user } from './stores.js'

describe('what the user changes between two turns', () => {
  it('is told to the model before the next prompt, with a short diff, hidden from people', () =>
    withPlace(async (place, store) => {
      const session = await begin(place, store)
      place.write('src/gone.ts', 'x\n')
      await edit(session, place, 'src/a.ts', 'one\ntwo\n')
      await edit(session, place, 'src/gone.ts', 'y\n')
      await edit(session, place, 'bin', '\0\x01')
      await ask(session)
      place.write('src/a.ts', 'one\n2\n')
      place.write('bin', '\0\x02')
      place.remove('src/gone.ts')
      const events = await session.append(user('look'))
      expect(events.map(({ type }) => type)).toEqual(['checkpoint', 'message', 'message'])
      expect(events[1]).toMatchObject({ role: 'system', visible: false, meta: { notice: 'files-changed' } })
      const text = String(events[1]?.content)
      expect(text).toContain('- changed: src/a.ts\n')
      expect(text).toContain('- changed: bin (binary)\n')
      expect(text).toContain('- deleted: src/gone.ts\n')
      expect(text).toContain('-two\n+2\n')
      expect(await textsOf(store, session.id)).toEqual(['go on', 'look'])
      expect(await contextOf(store, session.id)).toContain(text)
      session.close()
    }))

  it('is in the checkpoint before the notice already: who goes to that finds it', () =>
    withPlace(async (place, store) => {
      const session = await begin(place, store)
      await edit(session, place, 'a', 'one')
      await ask(session)
      place.write('a', 'by hand')
      const [checkpoint, , prompt] = await session.append(user('look'))
      await edit(session, place, 'a', 'two')
      await session.checkout(checkpoint?.id ?? '', { what: 'both' })
      expect(place.read('a')).toBe('by hand')
      await session.checkout(prompt?.id ?? '', { what: 'both' })
      expect(place.read('a')).toBe('by hand')
      session.close()
    }))

  it('is told once, without a diff where that is long, and not where the caller says so', () =>
    withPlace(async (place, store) => {
      const session = await begin(place, store)
      await edit(session, place, 'a', 'x\n')
      await ask(session)
      place.write('a', 'line\n'.repeat(200))
      await ask(session)
      await ask(session)
      place.write('a', 'again')
      await session.append(user('quiet'), { notice: false })
      await ask(session)
      const notices = (await eventsOf(store, session.id)).filter(({ role }) => role === 'system')
      expect(notices.map(({ content }) => content)).toEqual([
        'These files are no longer as this conversation last recorded them:\n- changed: a',
      ])
      session.close()
    }))

  it('is of the moment: no compaction keeps it, but it keeps what the caller said as the system', () =>
    withPlace(async (place, store) => {
      const session = await begin(place, store)
      await say(session, { type: 'message', role: 'system', content: 'rules' })
      await edit(session, place, 'a', 'x\n')
      await ask(session)
      place.write('a', 'y\n')
      await ask(session)
      await say(session, assistant('done'))
      await session.compact({ summary: 'so far' })
      expect(await contextOf(store, session.id)).toEqual(['rules', 'so far'])
      session.close()
    }))

  it('is told of a whole workspace too, but not of what its first search finds', () =>
    withPlace(async (place, store) => {
      place.write('.gitignore', 'ignored\n')
      place.write('ignored', 'x')
      place.write('a', 'one\n')
      const session = await begin(place, store, 'workspace')
      const first = await session.append(user('hi'))
      expect(first.map(({ type }) => type)).toEqual(['checkpoint', 'message'])
      place.write('b', 'two\n')
      place.write('ignored', 'y')
      const second = await session.append(user('and'))
      expect(String(second[1]?.content)).toContain('- created: b')
      expect(String(second[1]?.content)).not.toContain('ignored')
      const prompt = second.at(-1)?.id as string
      await session.beforeEdit([])
      place.write('c', 'by a shell command')
      place.write('a', 'changed by it')
      await session.afterEdit([])
      await session.undo(prompt)
      expect(place.tree()).toMatchObject({ a: '644 one\n', b: '644 two\n', ignored: '644 y' })
      expect(place.read('c')).toBeNull()
      session.close()
    }))
})
