import { execFileSync } from 'node:child_process'
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { fileLog } from '../../src/events/file-log/file-log.js'
import type { Line } from '../../src/events/line.js'
import { nodeFs } from '../../src/events/node-fs.js'
import { systemPorts } from '../../src/events/system.js'
import { chainOn, idsOf, left, messageOn, readAll, right, rootLine } from '../support/logs.js'

const root = rootLine()
let folder: string

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'coppice-fs-'))
})
afterEach(() => {
  for (const at of mounted.splice(0)) execFileSync('umount', [at])
  rmSync(folder, { recursive: true, force: true })
})

const mounted: string[] = []
/** A disk in memory of so many KiB; null where one may not be mounted. */
const mountDisk = (at: string, kib: number): string | null => {
  mkdirSync(at)
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${kib}k`, 'tmpfs', at], { stdio: 'ignore' })
    mounted.push(at)
    return at
  } catch {
    return null
  }
}

const logIn = (store: string) => fileLog({ ...systemPorts, folder: store })
const modeOf = (path: string): string => (statSync(path).mode & 0o777).toString(8)

describe('files and folders', () => {
  test('that are there already keep the modes that they have', () => {
    const path = join(folder, 'there')
    mkdirSync(path, 0o755)
    chmodSync(path, 0o755)
    nodeFs.makeDir(path)
    expect(modeOf(path)).toBe('755')
  })

  test('are opened as they are asked for', () => {
    const path = join(folder, 'file')
    expect(() => nodeFs.open(path, 'read')).toThrow('ENOENT')
    expect(() => nodeFs.open(path, 'append')).toThrow('ENOENT')
    nodeFs.open(path, 'new').close()
    expect(() => nodeFs.open(path, 'new')).toThrow('EEXIST')
    const file = nodeFs.open(path, 'create')
    expect([file.write(Buffer.from('abc')), file.write(Buffer.from('def'))]).toEqual([3, 3])
    const bytes = Buffer.alloc(10)
    expect([file.read(bytes, 0, 10, 2), bytes.toString('latin1', 0, 4)]).toEqual([4, 'cdef'])
    expect(file.read(bytes, 0, 10, 6)).toBe(0)
    file.close()
  })

  test('of no name are told by null and by an empty list', () => {
    expect(nodeFs.stat(join(folder, 'none'))).toBe(null)
    expect(nodeFs.readDir(join(folder, 'none'))).toEqual([])
    expect(nodeFs.watch(join(folder, 'none'), () => undefined)()).toBe(undefined)
    nodeFs.remove(join(folder, 'none'))
  })
})

describe('kernel locks', () => {
  test('belong to an open file: exclusive bars all, shared bars exclusive, close lets go', () => {
    const path = join(folder, 'file')
    writeFileSync(path, '')
    const [a, b, c] = [nodeFs.open(path, 'append'), nodeFs.open(path, 'append'), nodeFs.open(path, 'read')]
    expect(a.tryLock('exclusive')).toBe(true)
    expect([b.tryLock('exclusive'), b.tryLock('shared'), c.tryLock('shared')]).toEqual([false, false, false])
    expect(b.tryLock('shared', 'queue')).toBe(true)
    a.close()
    expect([c.tryLock('shared'), b.tryLock('shared'), b.tryLock('exclusive')]).toEqual([true, true, false])
    c.close()
    expect(b.tryLock('exclusive')).toBe(true)
    b.close()
  })
})

describe('a store on this machine', () => {
  test('whose folder is reached by a symlink works as any', async () => {
    mkdirSync(join(folder, 'real'))
    symlinkSync(join(folder, 'real'), join(folder, 'link'))
    const log = logIn(join(folder, 'link'))
    await right(log.create([root]))
    await right(log.append(root.id, root.id, [messageOn(root.id, 1)]))
    expect(logIn(join(folder, 'real')).sessions()).toEqual([root.id])
    log.close()
  })

  test('is followed by a watch while it grows, and told to have moved when it goes', async () => {
    const log = logIn(folder)
    await right(log.create([root]))
    const seen: string[] = []
    const lines = chainOn(root.id, 1, 30)
    const watching = (async () => {
      const signal = new AbortController().signal
      for await (const batch of log.watch(root.id, { after: root.id, signal })) seen.push(...idsOf(batch))
    })()
    watching.catch(() => undefined)
    for (const [i, line] of lines.entries()) {
      await right(log.append(root.id, lines[i - 1]?.id ?? root.id, [line], 'none'))
      if (i % 10 === 0) await new Promise((resolve) => setTimeout(resolve, 5))
    }
    while (seen.length < 30) await new Promise((resolve) => setTimeout(resolve, 5))
    expect(seen).toEqual(idsOf(lines))
    renameSync(join(folder, root.id), join(folder, 'gone'))
    await expect(watching).rejects.toMatchObject({ tag: 'Moved' })
    log.close()
  })

  test('that may only be read is read, and refused for writing', async (context) => {
    const isRoot = process.getuid?.() === 0
    const store = isRoot ? mountDisk(join(folder, 'disk'), 1024) : folder
    if (store === null) return context.skip('root may write everywhere, and may mount nothing here')
    const log = logIn(store)
    await right(log.create([root]))
    if (isRoot) execFileSync('mount', ['-o', 'remount,ro', store])
    else chmodSync(join(store, root.id, 'data.jsonl'), 0o400)
    const { lines } = await readAll(() => log.readForward(root.id))
    expect(lines.length).toBe(1)
    const refused = await left(log.append(root.id, root.id, [messageOn(root.id, 1)]))
    expect(refused.tag).toBe('StoreUnusable')
    if (isRoot) expect((await left(log.create([rootLine('2')]))).tag).toBe('StoreUnusable')
    log.close()
  })
})

describe('a disk that fills up', () => {
  for (const kib of [16, 32, 64])
    test(`at ${kib} KiB leaves what was acked and one fragment, which the next append names (INV-2)`, async (context) => {
      const disk = mountDisk(join(folder, 'disk'), kib)
      if (disk === null) return context.skip('needs the right to mount a tmpfs')
      await fillUp(disk)
    })
})

const fillUp = async (disk: string): Promise<void> => {
  const log = logIn(disk)
  await right(log.create([root]))
  const ballast = join(disk, 'ballast')
  writeFileSync(ballast, Buffer.alloc(4096))
  const acked = [root.id]
  let refused: unknown = null
  for (let ms = 1; refused === null; ms++) {
    const line: Line = messageOn(acked[acked.length - 1] as string, ms, 'x'.repeat(300 + (ms % 7) * 100))
    const made = await log.append(root.id, line.parent as string, [line])()
    if (made._tag === 'Left') refused = made.left
    else acked.push(line.id)
  }
  expect(refused).toMatchObject({ tag: 'WriteFailed' })
  const path = join(disk, root.id, 'data.jsonl')
  const size = statSync(path).size
  const full = await readAll((report) => log.readForward(root.id, { report }))
  expect(idsOf(full.lines)).toEqual(acked)
  expect(full.told.map(({ kind }) => kind)).toEqual(readFileSync(path).at(-1) === 0x0a ? [] : ['torn-tail'])
  rmSync(ballast)
  const next = messageOn(acked[acked.length - 1] as string, 9999)
  await right(log.append(root.id, acked[acked.length - 1] as string, [next]))
  const after = await readAll((report) => log.readForward(root.id, { report }))
  expect([after.error, after.told]).toEqual([null, []])
  expect(idsOf(after.lines.filter(({ type }) => type !== 'recovered'))).toEqual([...acked, next.id])
  expect(statSync(path).size).toBeGreaterThan(size)
  log.close()
}
