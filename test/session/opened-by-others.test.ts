import { mkdirSync, mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import { openStore } from '../../src/session/store/store.js'
import { runIn } from '../cli/coppice.js'
import { MemoryFs, systemError } from '../support/memory-fs.js'
import { memoryStore, newSession, refusal, storePath, user } from './stores.js'

const folder = realpathSync(mkdtempSync(join(tmpdir(), 'coppice-others-')))
afterAll(() => rmSync(folder, { recursive: true }))

it('who opens a session on the command line is told who else holds it, and which ends others left (INV-7)', async () => {
  const root = join(folder, 'store')
  const workspace = join(folder, 'workspace')
  mkdirSync(workspace)
  const [mine, theirs] = [await openStore(root), await openStore(root)]
  const one = await mine.create({ workspace })
  const two = await theirs.open(one.id)
  expect(runIn(root, ['title', one.id, 'held']).err).toContain(`process ${process.pid} on `)
  const [left] = await one.append(user('one'))
  await two.append(user('two'))
  one.close()
  two.close()
  // What was asked before a close is still being ended.
  await new Promise(setImmediate)
  const { code, err } = runIn(root, ['title', one.id, 'parted'])
  expect(code).toBe(0)
  expect(err).toBe(
    `coppice: session ${one.id.slice(0, 8)} has diverged: ${left!.id.slice(0, 8)}: see \`coppice tree ${one.id.slice(0, 8)}\`\n`,
  )
  mine.close()
  theirs.close()
})

it('an opening that a full disk stops leaves no presence behind', async () => {
  const fs = new MemoryFs()
  const store = await memoryStore(fs)
  const session = await newSession(store)
  session.close()
  fs.fault = (operation, path) => {
    if (operation === 'write' && path.includes('/presence/')) throw systemError('ENOSPC')
    return undefined
  }
  expect((await refusal(store.open(session.id))).tag).toBe('StoreUnusable')
  expect(fs.paths().filter((path) => path.includes('/presence/'))).toEqual([])
})

it('a prefix that fits several archived sessions is ambiguous, with the candidates', async () => {
  const fs = new MemoryFs()
  const store = await memoryStore(fs)
  ;(await newSession(store)).close()
  const [key] = fs.readDir(`${storePath}/projects`)
  const ids = ['1', '2'].map((last) => `abcd${last.padStart(28, '0')}`)
  for (const id of ids) fs.put(`${storePath}/projects/${key}/archive/${id}/data.jsonl`, Buffer.of())
  expect(await refusal(store.unarchive('abcd'))).toMatchObject({ tag: 'Ambiguous', candidates: ids })
})
