import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { nodeWorkFs } from '../../src/checkpoints/node-work-fs.js'
import { ask, begin, did, edit, eventsOf, tool, typesOf, withPlace } from './code-place.js'
import { assistant, refusal, say, textsOf, user } from './stores.js'

describe('a session that tracks nothing', () => {
  it('makes no folder, and its undo moves the conversation alone', () =>
    withPlace(async (place, store) => {
      const session = await begin(place, store)
      place.write('a', 'one')
      const prompt = await ask(session)
      await say(session, assistant('done'))
      const undone = await session.undo(prompt)
      expect(undone).toEqual({ head: session.id, files: [], prompt: 'go on' })
      expect(await typesOf(store, session.id)).toEqual(['session', 'message', 'message', 'head'])
      expect(existsSync(await place.repositoryOf(store, session.id))).toBe(false)
      expect(place.faults.names.some((name) => name.startsWith('work.'))).toBe(false)
      expect(await refusal(session.checkout(prompt, { what: 'code' }))).toMatchObject({ tag: 'Refused' })
      session.close()
    }))
})

describe('a checkpoint', () => {
  it('is taken before each user message once a file is tracked, and only where something changed', () =>
    withPlace(async (place, store) => {
      const session = await begin(place, store)
      place.write('a', 'one\n')
      await ask(session)
      await edit(session, place, 'a', 'two\n')
      await ask(session)
      place.write('a', 'three\n')
      await session.append(user('and now?'), { notice: false })
      expect(await typesOf(store, session.id)).toEqual([
        'session',
        'message',
        'checkpoint',
        'checkpoint',
        'message',
        'checkpoint',
        'message',
      ])
      const rows = await (await store.reader(session.id)).checkpoints()
      expect(rows.map(({ reason, toolCallId }) => [reason, toolCallId])).toEqual([
        ['before-tool', 'c1'],
        ['after-tool', 'c1'],
        ['prompt', null],
      ])
      const [first, second, third] = rows
      const diff = await (await store.reader(session.id)).diff(first?.id ?? '', third?.id ?? '')
      expect(diff).toMatchObject([{ path: 'a', status: 'modified', added: 1, removed: 1 }])
      expect(await session.checkpoint()).toMatchObject({ failed: null, commit: third?.commit, files: [] })
      expect(second?.files).toMatchObject([{ path: 'workspace/a', kind: 'file' }])
      session.close()
    }))

  it('comes between neither a draft and the parent that it names, nor before an aside', () =>
    withPlace(async (place, store) => {
      const session = await begin(place, store)
      await edit(session, place, 'a', 'one')
      place.write('a', 'two')
      const at = session.position
      const [message] = await session.append(user('hi', { parent: at }))
      expect(message?.parent).toBe(at)
      await say(session, user('btw', { aside: true }))
      expect((await typesOf(store, session.id)).slice(-2)).toEqual(['message', 'message'])
      session.close()
    }))

  it('refuses what can be in none, and says why', () =>
    withPlace(async (place, store) => {
      const session = await begin(place, store)
      const taken = await session.beforeEdit(['a', '.git/config', 'no\0name', place.storePath])
      expect(taken.files).toEqual([{ path: 'workspace/a', kind: 'absent' }])
      expect(taken.refused.map(({ path }) => path)).toEqual(['.git/config', 'no\0name', place.storePath])
      session.close()
    }))

  it('that the disk refuses is an event that says why, and undo lists it', () =>
    withPlace(async (place, store) => {
      const session = await begin(place, store)
      await edit(session, place, 'a', 'one')
      place.write('a', 'two')
      const { faults } = place
      const { isDue } = faults
      faults.isDue = (name) => name === 'work.open'
      const prompt = await ask(session)
      const taken = await session.beforeEdit(['a'])
      faults.isDue = isDue
      expect(taken.failed).toContain('EIO')
      const last = (await eventsOf(store, session.id)).at(-1)
      expect(last).toMatchObject({ type: 'checkpoint', reason: 'before-tool', failed: taken.failed })
      expect(taken.id).toBe(last?.id)
      expect(prompt).toMatch(/^[0-9a-f]{32}$/)
      const rows = await (await store.reader(session.id)).checkpoints()
      expect(rows.at(-1)).toMatchObject({ commit: null, failed: taken.failed })
      session.close()
    }))
})

describe('undo', () => {
  it('brings back code and conversation, and redo takes both there again, to any depth', () =>
    withPlace(async (place, store) => {
      const session = await begin(place, store)
      place.write('kept', 'mine')
      place.write('a', 'one', 0o755)
      const trees = [place.tree()]
      const prompts: string[] = []
      for (const turn of [1, 2, 3]) {
        prompts.push(await ask(session, `turn ${turn}`))
        await edit(session, place, 'a', `of turn ${turn}`)
        await edit(session, place, `src/new${turn}`, 'new')
        await say(session, assistant(`done ${turn}`))
        trees.push(place.tree())
      }
      for (const turn of [3, 2, 1]) {
        const undone = await session.undo(prompts[turn - 1] as string)
        expect(undone.prompt).toBe(`turn ${turn}`)
        expect(did(undone.files)[`workspace/src/new${turn}`]).toBe('delete')
        expect(place.tree()).toEqual(trees[turn - 1])
      }
      for (const turn of [1, 2, 3]) {
        await session.redo()
        expect(place.tree()).toEqual(trees[turn])
        expect((await textsOf(store, session.id)).at(-1)).toBe(`done ${turn}`)
      }
      expect(await refusal(session.redo())).toMatchObject({ tag: 'Refused', conflict: true })
      const heads = (await eventsOf(store, session.id)).filter(({ type }) => type === 'head')
      expect(heads.map(({ restore }) => restore !== undefined)).toEqual(heads.map(() => true))
      session.close()
    }))

  it('of code alone leaves the conversation, and of the conversation alone the code', () =>
    withPlace(async (place, store) => {
      const session = await begin(place, store)
      place.write('a', 'one')
      const prompt = await ask(session)
      await edit(session, place, 'a', 'two')
      const answer = await say(session, assistant('done'))
      const code = await session.undo(prompt, { what: 'code' })
      expect(place.read('a')).toBe('one')
      expect(code.prompt).toBe('go on')
      expect((await textsOf(store, session.id)).at(-1)).toBe('done')
      expect((await typesOf(store, session.id)).at(-1)).toBe('restore')
      await session.checkout(answer.id, { what: 'code' })
      expect(place.read('a')).toBe('two')
      await session.undo(prompt, { what: 'conversation' })
      expect(place.read('a')).toBe('two')
      expect(await textsOf(store, session.id)).toEqual([])
      await session.redo()
      expect(place.read('a')).toBe('two')
      session.close()
    }))

  it('of a turn that changed no file changes no file', () =>
    withPlace(async (place, store) => {
      const session = await begin(place, store)
      await edit(session, place, 'a', 'one')
      const prompt = await ask(session)
      await say(session, assistant('just words'))
      const before = place.tree()
      const undone = await session.undo(prompt)
      expect(did(undone.files)).toEqual({})
      expect(place.tree()).toEqual(before)
      session.close()
    }))

  it('shows first what it would do', () =>
    withPlace(async (place, store) => {
      const session = await begin(place, store)
      place.write('a', 'one')
      const prompt = await ask(session)
      await edit(session, place, 'a', 'two')
      await edit(session, place, 'b', 'new')
      const events = await typesOf(store, session.id)
      const plan = await session.planUndo(prompt)
      expect(did(plan.entries)).toEqual({ 'workspace/a': 'change', 'workspace/b': 'delete' })
      expect(plan.head).toBe(session.id)
      expect(place.read('a')).toBe('two')
      expect(await typesOf(store, session.id)).toEqual(events)
      await session.undo(prompt)
      expect(did((await session.planRedo()).entries)).toEqual({
        'workspace/a': 'change',
        'workspace/b': 'create',
      })
      session.close()
    }))

  it('stops at a file that the user changed since, with nothing moved; force and keep go on', () =>
    withPlace(async (place, store) => {
      const session = await begin(place, store)
      place.write('a', 'one')
      const prompt = await ask(session)
      await edit(session, place, 'a', 'two')
      place.write('a', 'mine')
      const before = await typesOf(store, session.id)
      const error = await refusal(session.undo(prompt))
      expect(error).toMatchObject({ tag: 'RestoreConflict', conflicts: [{ path: 'a' }] })
      expect(place.read('a')).toBe('mine')
      expect(await typesOf(store, session.id)).toEqual(before)
      expect((await session.planUndo(prompt)).entries).toMatchObject([{ action: 'conflict' }])
      await session.undo(prompt, { onConflict: 'keep' })
      expect(place.read('a')).toBe('mine')
      await session.redo({ onConflict: 'force' })
      expect(place.read('a')).toBe('mine')
      await session.undo(prompt, { onConflict: 'force' })
      expect(place.read('a')).toBe('one')
      await session.redo()
      expect(place.read('a')).toBe('mine')
      session.close()
    }))

  it('tells of a tracked file that cannot be read at a prompt, and the conversation goes on', () =>
    withPlace(async (place) => {
      const open: typeof nodeWorkFs.open = (path, mode) => {
        if (path.endsWith('secret') && isShut) throw Object.assign(new Error('EACCES'), { code: 'EACCES' })
        return nodeWorkFs.open(path, mode)
      }
      let isShut = false
      const store = await place.store({ work: { ...nodeWorkFs, open } })
      const session = await begin(place, store)
      place.write('secret', 'one')
      place.write('a', 'one')
      await tool(session, ['secret', 'a'], () => {})
      isShut = true
      place.write('secret', 'two')
      await ask(session)
      place.write('a', 'two')
      await ask(session)
      const rows = (await (await store.reader(session.id)).checkpoints()).slice(-2)
      const why = 'cannot be read (EACCES)'
      expect(rows).toMatchObject([
        { reason: 'prompt', commit: null, failed: `secret: ${why}`, files: [], unread: [] },
        { reason: 'prompt', failed: null, unread: [{ path: 'workspace/secret', why }] },
      ])
      expect(rows[1]?.files.map(({ path }) => path)).toEqual(['workspace/a'])
      expect(await (await store.reader(session.id)).undoTargets()).toHaveLength(2)
      session.close()
      store.close()
    }))

  it('leaves files outside the workspace unless they are asked for', () =>
    withPlace(async (place, store) => {
      const session = await begin(place, store)
      const outside = join(place.root, 'outside.txt')
      place.write(outside, 'one')
      const prompt = await ask(session)
      await tool(session, [outside], () => place.write(outside, 'two'))
      expect((await session.planUndo(prompt)).entries).toMatchObject([{ outside: true, action: 'keep' }])
      await session.undo(prompt)
      expect(place.read(outside)).toBe('two')
      await session.redo()
      await session.undo(prompt, { outside: true })
      expect(place.read(outside)).toBe('one')
      session.close()
    }))

  it('across a switch of branches gives each branch its code', () =>
    withPlace(async (place, store) => {
      const session = await begin(place, store)
      place.write('a', 'base')
      const prompt = await ask(session)
      await edit(session, place, 'a', 'left')
      const left = await say(session, assistant('left'))
      await session.undo(prompt)
      await session.branch('right')
      const other = await ask(session, 'the other way')
      await edit(session, place, 'b', 'right')
      const right = await say(session, assistant('right'))
      await session.checkout(left.id, { what: 'both' })
      expect([place.read('a'), place.read('b')]).toEqual(['left', null])
      await session.checkout(right.id, { what: 'both' })
      expect([place.read('a'), place.read('b')]).toEqual(['base', 'right'])
      await session.undo(other)
      expect([place.read('a'), place.read('b')]).toEqual(['base', null])
      session.close()
    }))

  it('works on in a session that was opened anew, and in one that holds older code in its log only', () =>
    withPlace(async (place, store) => {
      const first = await begin(place, store)
      place.write('a', 'one')
      const prompt = await ask(first)
      await edit(first, place, 'a', 'two')
      first.close()
      store.close()
      const again = await place.store()
      const session = await again.open(first.id)
      await session.undo(prompt)
      expect(place.read('a')).toBe('one')
      session.close()
      again.close()
    }))
})

describe('two sessions in one workspace', () => {
  it('an undo in one takes back nothing of what the other wrote', () =>
    withPlace(async (place, store) => {
      const [one, two] = [await begin(place, store), await begin(place, store)]
      place.write('a', 'base')
      const prompt = await ask(one)
      await edit(one, place, 'a', 'by one')
      await edit(two, place, 'a', 'by two')
      expect(await refusal(one.undo(prompt))).toMatchObject({ tag: 'RestoreConflict' })
      await ask(one, 'what now')
      const notice = (await eventsOf(store, one.id)).findLast(({ role }) => role === 'system')
      expect(notice?.content).toContain(`by session ${two.id}`)
      const { conflicts } = await refusal(one.undo(prompt))
      expect(conflicts).toMatchObject([{ why: `session ${two.id} wrote it since` }])
      expect(place.read('a')).toBe('by two')
      one.close()
      two.close()
    }))

  it.each(['store.rename', 'store-file.write', 'work.rename', 'work.link', 'store.syncDir'])(
    'another process that appends to the session in the middle of an undo (%s) loses nothing and undoes nothing',
    (when) =>
      withPlace(async (place, store) => {
        const one = await begin(place, store)
        place.write('a', 'base')
        const prompt = await ask(one)
        await edit(one, place, 'a', 'turn')
        const two = await (await place.store()).open(one.id)
        const { faults } = place
        const { isDue } = faults
        const said: Promise<unknown>[] = []
        faults.isDue = (name) => {
          if (name === when && said.length < 3) said.push(say(two, assistant(`word ${said.length}`)))
          return false
        }
        place.write('a', 'mine')
        await one.undo(prompt, { onConflict: 'force' })
        faults.isDue = isDue
        expect(said.length).toBeGreaterThan(0)
        await Promise.all(said)
        expect(place.read('a')).toBe('base')
        const events = await eventsOf(store, one.id)
        expect(events.filter(({ restore }) => restore !== undefined)).toHaveLength(1)
        expect(events.filter(({ content }) => String(content).startsWith('word'))).toHaveLength(said.length)
        expect((await store.verify([one.id])).problems).toEqual([])
        await one.redo()
        expect(place.read('a')).toBe('mine')
        one.close()
        two.close()
      }),
  )

  it('two objects of one session decide again where the other one wrote, and both end where the log says', () =>
    withPlace(async (place, store) => {
      const one = await begin(place, store)
      place.write('a', 'base')
      const prompt = await ask(one)
      const two = await (await place.store()).open(one.id)
      await edit(one, place, 'a', 'one')
      await two.undo(prompt)
      expect(place.read('a')).toBe('base')
      await say(one, assistant('went on'))
      await one.refresh()
      expect((await store.verify([one.id])).problems).toEqual([])
      one.close()
      two.close()
    }))
})
