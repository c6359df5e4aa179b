import { randomBytes } from 'node:crypto'
import {
  chmodSync,
  existsSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import type { Store } from '../../src/session/api.js'
import { git, hasGit } from '../checkpoints/desk.js'
import { ask, begin, type CodePlace, edit, withPlace } from './code-place.js'
import { assistant, refusal, say } from './stores.js'

/** A session with one turn that wrote `a`; gives its id and the prompt's. */
const worked = async (place: CodePlace, store: Store): Promise<readonly [string, string]> => {
  const session = await begin(place, store)
  place.write('a', `before ${session.id}`)
  const prompt = await ask(session)
  await edit(session, place, 'a', `after ${session.id}`)
  await say(session, assistant('done'))
  session.close()
  return [session.id, prompt]
}

const undoIn = async (store: Store, id: string, prompt: string): Promise<void> => {
  const session = await store.open(id)
  await session.undo(prompt)
  session.close()
}

describe('the checkpoints of a session', () => {
  it('go along into a fork, and stay with it when the session that took them is purged', () =>
    withPlace(async (place, store) => {
      const [id] = await worked(place, store)
      const { session } = await store.fork(id)
      await store.archive(id, 'delete')
      await store.purge()
      await store.collect()
      const prompt = (await (await store.reader(session)).undoTargets())[0] as { id: string }
      expect(prompt).toMatchObject({ restorable: true })
      await undoIn(store, session, prompt.id)
      expect(place.read('a')).toBe(`before ${id}`)
      expect((await store.verify()).problems).toEqual([])
    }))

  it('that a fork begins on, after a restore, hold what the restore put back', () =>
    withPlace(async (place, store) => {
      const [id, prompt] = await worked(place, store)
      place.write('a', 'mine')
      const session = await store.open(id)
      await session.undo(prompt, { onConflict: 'keep' })
      session.close()
      const fork = await store.fork(id)
      await store.archive(id, 'delete')
      await store.purge()
      await store.collect()
      place.write('a', 'later')
      const forked = await store.open(fork.session)
      await forked.checkout(forked.position, { what: 'code', onConflict: 'force' })
      expect(place.read('a')).toBe('mine')
      forked.close()
    }))

  it('wait in the archive, survive a collection there, and come back whole', () =>
    withPlace(async (place, store) => {
      const [id, prompt] = await worked(place, store)
      await store.archive(id, 'archive')
      await store.collect()
      expect(await store.use()).toMatchObject({ sessions: [{ session: id, archived: true, checkpoints: 2 }] })
      await store.unarchive(id)
      await undoIn(store, id, prompt)
      expect(place.read('a')).toBe(`before ${id}`)
      expect((await store.verify()).problems).toEqual([])
    }))

  it('are freed once it is purged, and no other session’s are', () =>
    withPlace(async (place, store) => {
      const [gone] = await worked(place, store)
      const [kept, prompt] = await worked(place, store)
      await store.archive(gone, 'delete')
      await store.purge()
      const [dry] = await store.collect(undefined, { dryRun: true })
      const [freed] = await store.collect()
      expect(freed).toMatchObject({ workspace: place.workspace, missing: [] })
      expect(freed?.freedObjects).toBe(dry?.freedObjects)
      expect(freed?.freedObjects).toBeGreaterThan(2)
      await undoIn(store, kept, prompt)
      expect(place.read('a')).toBe(`before ${kept}`)
      const repository = await place.repositoryOf(store, kept)
      if (hasGit) expect(git(repository, 'fsck', '--strict', '--full', '--no-dangling')).toBe('')
    }))

  it('are told apart by `use`: what one leads to, and what only it does', () =>
    withPlace(async (place, store) => {
      const [one] = await worked(place, store)
      const [two] = await worked(place, store)
      const { sessions, workspaces, caches } = await store.use()
      expect(sessions.map(({ session }) => session).sort()).toEqual([one, two].sort())
      for (const { code, ownCode, log, blobs, checkpoints } of sessions) {
        expect(checkpoints).toBe(2)
        expect(code).toBeGreaterThanOrEqual(ownCode)
        expect(ownCode).toBeGreaterThan(0)
        expect(log).toBeGreaterThan(0)
        expect(blobs).toBe(0)
      }
      expect(workspaces).toMatchObject([{ workspace: place.workspace, unreached: 0 }])
      expect(caches).toBeGreaterThan(0)
    }))

  it('move with their workspace, also into one that has checkpoints of its own', () =>
    withPlace(async (place, store) => {
      const [id, prompt] = await worked(place, store)
      const to = join(place.root, 'moved')
      renameSync(place.workspace, to)
      await store.relocate(place.workspace, to)
      await undoIn(store, id, prompt)
      expect(place.read(join(to, 'a'))).toBe(`before ${id}`)
      place.make('.')
      const [other, second] = await worked(place, store)
      renameSync(join(place.workspace, 'a'), join(to, 'a'))
      await store.relocate(place.workspace, to)
      await undoIn(store, other, second)
      expect(place.read(join(to, 'a'))).toBe(`before ${other}`)
      expect((await store.verify()).problems).toEqual([])
      expect((await store.find(other)).workspace).toBe(to)
    }))
})

describe('verify', () => {
  it('says where an object of a checkpoint is not there, and so does the list of undo targets', () =>
    withPlace(async (place, store) => {
      const [id] = await worked(place, store)
      const repository = await place.repositoryOf(store, id)
      const packs = join(repository, 'objects', 'pack')
      const [first] = readdirSync(packs).sort()
      for (const name of readdirSync(packs))
        if (name.startsWith(String(first).split('.')[0] as string)) rmSync(join(packs, name))
      const fresh = await place.store()
      const { problems } = await fresh.verify([id])
      expect(problems.length).toBeGreaterThan(0)
      expect(new Set(problems.map(({ kind }) => kind))).toEqual(new Set(['checkpoint-missing']))
      fresh.close()
    }))

  it('takes a session that came without its code for whole, and undo says that its files cannot come back', () =>
    withPlace(async (place, store) => {
      const [id, prompt] = await worked(place, store)
      const repository = await place.repositoryOf(store, id)
      rmSync(join(repository, '..'), { recursive: true })
      // The mark says that they were taken here: a session that comes from elsewhere has none.
      rmSync(join(repository, '..', '..', id, 'code'))
      const fresh = await place.store()
      expect((await fresh.verify([id])).problems).toEqual([])
      const [target] = await (await fresh.reader(id)).undoTargets()
      expect(target).toMatchObject({ restorable: false, why: 'the bytes of 1 file are not in this store' })
      expect(await refusal(undoIn(fresh, id, prompt))).toMatchObject({ tag: 'RestoreFailed' })
      expect(place.read('a')).toBe(`after ${id}`)
      // It goes on from here with checkpoints of its own.
      const session = await fresh.open(id)
      const next = await ask(session)
      await edit(session, place, 'a', 'new')
      await session.undo(next)
      expect(place.read('a')).toBe(`after ${id}`)
      session.close()
      fresh.close()
    }))

  it.each(['the repository', 'the branch'])(
    'tells that %s of checkpoints that were taken here is gone',
    (what) =>
      withPlace(async (place, store) => {
        const [id] = await worked(place, store)
        const [other] = await worked(place, store)
        const repository = await place.repositoryOf(store, id)
        rmSync(what === 'the branch' ? join(repository, 'refs/heads', id) : join(repository, '..'), {
          recursive: true,
        })
        const fresh = await place.store()
        const { problems } = await fresh.verify()
        const lost = what === 'the branch' ? [id] : [id, other]
        expect(problems.map(({ session, kind }) => [session, kind]).sort()).toEqual(
          lost.map((session) => [session, 'checkpoint-missing']).sort(),
        )
        expect(problems[0]?.detail).toContain('has no branch of it')
        fresh.close()
      }),
  )

  it('tells a file of a checkpoint whose bytes are not what they were, in a pack and alone', () =>
    withPlace(async (place, store) => {
      const session = await begin(place, store)
      await ask(session)
      // Of random bytes, which stand in the pack as they are; and one that is too large for a pack.
      await edit(session, place, 'small', randomBytes(20_000).toString('base64'))
      await edit(session, place, 'large', randomBytes(1_200_000).toString('base64'))
      const { id } = session
      session.close()
      expect((await store.verify([id])).problems).toEqual([])
      const objects = join(await place.repositoryOf(store, id), 'objects')
      const large = readdirSync(objects).find((name) => /^[0-9a-f]{2}$/.test(name)) as string
      const names = [
        join(objects, large, readdirSync(join(objects, large))[0] as string),
        ...readdirSync(join(objects, 'pack')).flatMap((name) => {
          const path = join(objects, 'pack', name)
          return name.endsWith('.pack') && statSync(path).size > 20_000 ? [path] : []
        }),
      ]
      expect(names).toHaveLength(2)
      for (const name of names) {
        const bytes = readFileSync(name)
        bytes[10_000] = (bytes[10_000] as number) ^ 0xff
        chmodSync(name, 0o600)
        writeFileSync(name, bytes)
      }
      const fresh = await place.store()
      expect((await fresh.verify([id])).problems.map(({ kind }) => kind)).toEqual([
        'checkpoint-damaged',
        'checkpoint-damaged',
      ])
      fresh.close()
    }))

  it('and all else that looks at checkpoints says so where they cannot be read', () =>
    withPlace(async (place, store) => {
      const [id] = await worked(place, store)
      const pack = join(await place.repositoryOf(store, id), 'objects', 'pack')
      rmSync(pack, { recursive: true })
      writeFileSync(pack, 'no folder')
      const fresh = await place.store()
      const reader = await fresh.reader(id)
      expect(await reader.undoTargets()).toMatchObject([
        { restorable: false, why: expect.stringContaining('the checkpoints cannot be read (ENOTDIR') },
      ])
      expect(await reader.checkpoints()).toHaveLength(2)
      expect((await fresh.verify([id])).problems).toMatchObject([
        { kind: 'checkpoint-damaged', detail: expect.stringContaining('ENOTDIR') },
      ])
      const { sessions, workspaces } = await fresh.use()
      expect(sessions).toMatchObject([{ session: id, code: 0, log: expect.any(Number) }])
      expect(workspaces).toMatchObject([{ code: 0, why: expect.stringContaining('ENOTDIR') }])
      const failed: string[] = []
      await fresh.collect(undefined, { failed: (workspace) => void failed.push(workspace) })
      expect(failed).toEqual([place.workspace])
      fresh.close()
    }))

  it('tells damaged bytes', () =>
    withPlace(async (place, store) => {
      const [id] = await worked(place, store)
      const packs = join(await place.repositoryOf(store, id), 'objects', 'pack')
      for (const name of readdirSync(packs)) if (name.endsWith('.pack')) writeFileSync(join(packs, name), 'x')
      const fresh = await place.store()
      const kinds = (await fresh.verify([id])).problems.map(({ kind }) => kind)
      expect(kinds).toEqual(['checkpoint-damaged'])
      fresh.close()
    }))
})

describe('a session that tracks its whole workspace', () => {
  it('is refused in a home folder, where nothing is made', () =>
    withPlace(async (place) => {
      const store = await place.store({ userHome: place.workspace })
      const error = await refusal(begin(place, store, 'workspace'))
      expect(error).toMatchObject({ tag: 'Refused', reason: expect.stringContaining('home folder') })
      expect(await store.list()).toEqual([])
      const session = await begin(place, store)
      await edit(session, place, 'a', 'tracked all the same')
      expect(existsSync(await place.repositoryOf(store, session.id))).toBe(true)
      session.close()
      store.close()
    }))
})
