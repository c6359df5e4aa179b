import { execFileSync } from 'node:child_process'
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  realpathSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { Store } from '../../src/session/api.js'
import { openStore } from '../../src/session/store/store.js'
import { workspaceKey } from '../../src/session/store/workspace.js'
import { refusal, textsOf, user } from './stores.js'

let folder: string
let store: Store
beforeEach(async () => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), 'coppice-relocate-')))
  store = await openStore(join(folder, 'store'))
})
afterEach(() => {
  store.close()
  rmSync(folder, { recursive: true })
})

const at = (name: string): string => join(folder, name)
const sessionIn = async (path: string, text: string): Promise<string> => {
  mkdirSync(path, { recursive: true })
  const session = await store.create({ workspace: path })
  await session.append(user(text))
  session.close()
  return session.id
}
const listed = async (path: string): Promise<readonly string[]> =>
  (await store.list({ workspace: path })).map(({ session }) => session).sort()

describe('relocate', () => {
  it('moves the whole folder where the new path has none, the archive too', async () => {
    const one = await sessionIn(at('old'), 'one')
    const gone = await sessionIn(at('old'), 'gone')
    await store.archive(gone, 'archive')
    renameSync(at('old'), at('new'))
    expect(await store.relocate(at('old'), at('new'))).toBe(1)
    expect(await listed(at('new'))).toEqual([one])
    expect(await listed(at('old'))).toEqual([])
    expect((await store.archived()).map(({ id, workspace }) => [id, workspace])).toEqual([[gone, at('new')]])
    expect(await textsOf(store, one)).toEqual(['one'])
    expect((await store.verify()).problems).toEqual([])
    expect(readdirSync(join(store.path, 'projects'))).toEqual([workspaceKey(at('new'))])
  })

  it('puts the sessions beside those that the new path has, and leaves no empty folder behind', async () => {
    const one = await sessionIn(at('old'), 'one')
    const gone = await sessionIn(at('old'), 'gone')
    await store.archive(gone, 'archive')
    const two = await sessionIn(at('new'), 'two')
    expect(await store.relocate(at('old'), at('new'))).toBe(1)
    expect(await listed(at('new'))).toEqual([one, two].sort())
    expect(store.hasWorkspace(at('old'))).toBe(false)
    expect((await store.archived()).map(({ id }) => id)).toEqual([gone])
    expect((await store.verify()).problems).toEqual([])
  })

  it('overwrites nothing: a session that is on both sides stops it before the first move', async () => {
    const one = await sessionIn(at('old'), 'one')
    const other = await sessionIn(at('old'), 'other')
    await sessionIn(at('new'), 'two')
    const places = join(store.path, 'projects')
    cpSync(join(places, workspaceKey(at('old')), one), join(places, workspaceKey(at('new')), one), {
      recursive: true,
    })
    expect(await refusal(store.relocate(at('old'), at('new')))).toMatchObject({
      tag: 'Refused',
      conflict: true,
    })
    expect(await listed(at('old'))).toEqual([one, other].sort())
  })

  it('refuses what is not there, or is the same', async () => {
    await sessionIn(at('old'), 'one')
    expect((await refusal(store.relocate(at('nothing'), at('old')))).tag).toBe('NotFound')
    expect((await refusal(store.relocate(at('old'), at('nothing')))).tag).toBe('NotFound')
    expect((await refusal(store.relocate(at('old'), at('old')))).tag).toBe('Refused')
    writeFileSync(at('file'), '')
    expect((await refusal(store.relocate(at('old'), at('file')))).tag).toBe('NotFound')
  })

  it('goes on where a crash cut it short', async () => {
    const one = await sessionIn(at('old'), 'one')
    mkdirSync(at('new'))
    const place = join(store.path, 'projects', workspaceKey(at('old')))
    writeFileSync(join(place, 'workspace.json'), JSON.stringify({ format: 1, path: at('new') }))
    expect(await store.relocate(at('old'), at('new'))).toBe(1)
    expect(await listed(at('new'))).toEqual([one])
  })
})

describe('a workspace that moved', () => {
  const git = (path: string, ...args: string[]): void => {
    execFileSync('git', ['-C', path, '-c', 'user.name=x', '-c', 'user.email=x@x', ...args], {
      stdio: 'ignore',
    })
  }
  const repository = (path: string, text: string): void => {
    mkdirSync(path)
    git(path, 'init')
    git(path, 'commit', '--allow-empty', '-m', text)
  }

  it('is known by its repository, offered and never moved by itself', async () => {
    repository(at('old'), 'first')
    repository(at('other'), 'another first')
    const one = await sessionIn(at('old'), 'one')
    expect(await store.movedFrom(at('new'))).toEqual([])
    renameSync(at('old'), at('new'))
    expect(await store.movedFrom(at('new'))).toEqual([at('old')])
    expect(await store.movedFrom(at('other'))).toEqual([])
    mkdirSync(join(at('new'), 'inside'))
    expect(await store.movedFrom(join(at('new'), 'inside'))).toEqual([])
    expect(await listed(at('new'))).toEqual([])
    await store.relocate(at('old'), at('new'))
    expect(await listed(at('new'))).toEqual([one])
    expect(await store.movedFrom(at('new'))).toEqual([])
  })

  it('a copy that is still there is no move', async () => {
    repository(at('old'), 'first')
    await sessionIn(at('old'), 'one')
    cpSync(at('old'), at('copy'), { recursive: true })
    expect(await store.movedFrom(at('copy'))).toEqual([])
  })
})

describe('a backup', () => {
  it('is a copy of the folder: it opens, lists, verifies, and goes on', async () => {
    const one = await sessionIn(at('w'), 'one')
    const open = await store.open(one)
    await open.append([
      user('é'.repeat(50_000)),
      user([{ type: 'image', media: 'image/png', data: 'aGVsbG8=' }]),
    ])
    await open.branch('side', one)
    open.close()
    const two = await sessionIn(at('w'), 'two')
    await store.archive(two, 'archive')
    const before = await store.list()
    cpSync(store.path, at('backup'), { recursive: true })
    const backup = await openStore(at('backup'))
    expect(await backup.list()).toEqual(before)
    const verified = await backup.verify()
    expect(verified).toEqual(await store.verify())
    expect(verified.problems).toEqual([])
    expect((await backup.archived()).map(({ id }) => id)).toEqual([two])
    const again = await backup.open(one)
    await again.append(user('in the copy'))
    again.close()
    expect(await textsOf(backup, one)).toEqual(['in the copy'])
    expect(await textsOf(store, one)).toEqual([])
    backup.close()
  })
})
