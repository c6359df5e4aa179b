import { describe, expect, test } from 'vitest'
import { SimDisk } from './disk/disk.js'
import { Changes, type Machine, SimFs } from './disk/sim-fs.js'
import { Seeded } from './random.js'

/** A disk, and a process on it that meets no fault but what `isLost` says of its syncs. */
const machine = (naming: 'journal' | 'loose' = 'loose') => {
  let isLost = false
  const disk = new SimDisk({ naming, redirties: 'sector', clock: () => 0 })
  const computer: Machine = {
    disk,
    changes: new Changes(),
    harm: null,
    ask: (_, bytes = 0) => bytes,
    done: () => {},
    waitForDisk: (_, then) => then(isLost),
    watch: () => () => {},
    lose: (file, promised) => file.lose(promised, new Seeded(1)),
    attempts: () => {},
  }
  const fails = (fail: boolean): void => {
    isLost = fail
  }
  return { disk, fs: new SimFs(computer), fails }
}

/** What stands in a file after each of many cuts; '' where it is gone. */
const afterCuts = async (prepare: (fs: SimFs) => Promise<void>): Promise<ReadonlySet<string>> => {
  const seen = new Set<string>()
  for (let seed = 0; seed < 200; seed++) {
    const { disk, fs } = machine()
    await prepare(fs)
    disk.cut(new Seeded(seed))
    const node = disk.lookUp('/d/f')
    seen.add(node?.kind === 'file' ? node.bytes.toString('latin1', 0, node.size) : '')
  }
  return seen
}

const written = async (
  fs: SimFs,
  text: string,
  synced: { file: boolean; folder: boolean },
): Promise<void> => {
  fs.makeDir('/d')
  const file = fs.open('/d/f', 'new')
  file.write(Buffer.from(text))
  if (synced.file) await file.sync()
  if (synced.folder) await fs.syncDir('/d')
  file.close()
}

describe('the simulated disk, when the power is cut', () => {
  test('has what was synced, if its name was too', async () => {
    const text = 'x'.repeat(1500)
    expect(await afterCuts((fs) => written(fs, text, { file: true, folder: true }))).toEqual(new Set([text]))
    expect(await afterCuts((fs) => written(fs, text, { file: true, folder: false }))).toEqual(
      new Set([text, '']),
    )
  })

  test('has any sectors of what was not, zeros in place of others, and any length', async () => {
    const text = 'a'.repeat(512) + 'b'.repeat(512)
    const seen = await afterCuts((fs) => written(fs, text, { file: false, folder: true }))
    expect(seen).toContain('')
    expect(seen).toContain(text)
    expect(seen).toContain('\0'.repeat(512) + 'b'.repeat(512))
    expect(seen).toContain('a'.repeat(512) + '\0'.repeat(512))
    expect([...seen].some((left) => left.length > 0 && left.length % 512 !== 0)).toBe(true)
  })

  test('has a rename whole, or not at all', async () => {
    const seen = new Set<string>()
    for (let seed = 0; seed < 100; seed++) {
      const { disk, fs } = machine()
      await written(fs, 'x', { file: true, folder: true })
      fs.rename('/d/f', '/d/g')
      disk.cut(new Seeded(seed))
      seen.add(fs.readDir('/d').join())
    }
    expect(seen).toEqual(new Set(['f', 'g']))
  })

  test('with a journal has names in their order, and any sync takes them along', async () => {
    const seen = new Set<string>()
    for (let seed = 0; seed < 100; seed++) {
      const { disk, fs } = machine('journal')
      await written(fs, 'x', { file: true, folder: false })
      for (const name of ['/a', '/b', '/c']) fs.open(name, 'new').close()
      disk.cut(new Seeded(seed))
      seen.add(fs.readDir('/').join())
    }
    expect(seen).toEqual(new Set(['d', 'a,d', 'a,b,d', 'a,b,c,d']))
  })
})

describe('after a failed sync', () => {
  test('the cache shows what the disk lacks, a later sync does not write it, and the cache may forget it', async () => {
    const { disk, fs, fails } = machine()
    await written(fs, 'a'.repeat(512), { file: true, folder: true })
    const file = fs.open('/d/f', 'append')
    file.write(Buffer.from('b'.repeat(512)))
    fails(true)
    await expect(file.sync()).rejects.toMatchObject({ code: 'EIO' })
    fails(false)
    expect(Buffer.from(fs.readFile('/d/f')).toString()).toBe('a'.repeat(512) + 'b'.repeat(512))
    file.write(Buffer.from('c'.repeat(512)))
    await file.sync()
    const node = disk.lookUp('/d/f')
    if (node?.kind !== 'file') throw new Error('it is gone')
    node.evict()
    const [first, second, third] = ['a', node.bytes[512] === 0 ? '\0' : 'b', 'c']
    expect(node.bytes.toString('latin1', 0, node.size)).toBe(
      [first, second, third].map((c) => c.repeat(512)).join(''),
    )
  })
})

describe('a lock', () => {
  test('goes with the process that held it', () => {
    const { fs } = machine()
    const other = new SimFs(fs.machine)
    fs.open('/f', 'new').close()
    expect(fs.open('/f', 'append').tryLock('exclusive')).toBe(true)
    const waiting = other.open('/f', 'append')
    expect(waiting.tryLock('shared')).toBe(false)
    fs.closeAll()
    expect(waiting.tryLock('shared')).toBe(true)
  })
})
