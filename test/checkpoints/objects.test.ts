import { createHash } from 'node:crypto'
import * as fs from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { nodeWorkFs } from '../../src/checkpoints/node-work-fs.js'
import { applyDelta, makeDelta } from '../../src/checkpoints/objects/delta.js'
import { encodeCommit, encodeTree } from '../../src/checkpoints/objects/git-format.js'
import { GitObjects } from '../../src/checkpoints/objects/git-objects.js'
import { piecesOf } from '../../src/checkpoints/read-file.js'
import { systemPorts } from '../../src/events/system.js'
import { Desk, done, git, hasGit, noGit, Talk } from './desk.js'

let desk: Desk
beforeEach(() => {
  desk = new Desk()
})
afterEach(() => desk.clear())

const open = (): GitObjects =>
  new GitObjects(systemPorts.fs, systemPorts.random, desk.repository, desk.folder)

const textOf = async (pieces: AsyncIterable<Uint8Array>): Promise<string> => {
  const all: Uint8Array[] = []
  for await (const piece of pieces) all.push(piece)
  return Buffer.concat(all).toString()
}

/** One commit on a ref with one file in it. */
const commitOn = (store: GitObjects, ref: string, content: string, parents: readonly string[] = []) =>
  store.writing(async (batch) => {
    const oid = await batch.add('blob', Buffer.from(content))
    const tree = await batch.add('tree', encodeTree([{ mode: '100644', name: 'file', oid }]))
    const message = `holds ${content.slice(0, 20)}`
    const commit = await batch.add('commit', encodeCommit({ tree, parents, at: 1_700_000_000_000, message }))
    await store.moveRefs(
      async () => new Map([[ref, commit]]),
      () => batch.flush(),
    )
    return { oid, tree, commit }
  })

test('an index whose pack a power cut took lists nothing: what it listed is written again', async () => {
  const first = await commitOn(open(), 'refs/heads/a', 'content')
  const packs = join(desk.repository, 'objects', 'pack')
  for (const name of fs.readdirSync(packs)) if (name.endsWith('.pack')) fs.rmSync(join(packs, name))
  expect(open().has(first.oid)).toBe(false)
  const { oid, tree } = await commitOn(open(), 'refs/heads/b', 'content')
  expect([oid, tree]).toEqual([first.oid, first.tree])
  expect((await open().read(oid)).bytes.toString()).toBe('content')
})

test('what was flushed is there for another process, whole and piece by piece', async () => {
  const { oid, commit } = await commitOn(open(), 'refs/heads/a', 'content')
  const store = open()
  expect((await store.read(oid)).bytes.toString()).toBe('content')
  expect(await textOf(store.stream(oid))).toBe('content')
  expect((await store.readCommit(commit)).message).toBe('holds content')
  expect(store.ref('refs/heads/a')).toBe(commit)
  expect([...store.refs()]).toEqual([['refs/heads/a', commit]])
})

test('a flipped bit is told, in whatever file it lies', async () => {
  const { oid } = await commitOn(open(), 'refs/heads/a', 'content that is not so short')
  const folder = join(desk.repository, 'objects/pack')
  const pack = fs.readdirSync(folder).find((name) => name.endsWith('.pack')) as string
  const bytes = fs.readFileSync(join(folder, pack))
  for (let at = 12; at < bytes.length - 20; at += 7) {
    const changed = Buffer.from(bytes)
    changed[at] = (changed[at] as number) ^ 4
    fs.chmodSync(join(folder, pack), 0o600)
    fs.writeFileSync(join(folder, pack), changed)
    const store = open()
    const outcomes = await Promise.allSettled([store.read(oid), textOf(store.stream(oid))])
    for (const outcome of outcomes)
      if (outcome.status === 'rejected') expect(outcome.reason).toMatchObject({ tag: 'ObjectDamaged', oid })
      else {
        const { value } = outcome
        expect(typeof value === 'string' ? value : value.bytes.toString()).toBe(
          'content that is not so short',
        )
      }
  }
})

test('an object that is not there is told as missing', async () => {
  await commitOn(open(), 'refs/heads/a', 'content')
  await expect(open().read('0'.repeat(40))).rejects.toMatchObject({ tag: 'ObjectDamaged' })
  await expect(textOf(open().stream('0'.repeat(40)))).rejects.toMatchObject({ tag: 'ObjectDamaged' })
})

test('many checkpoints leave few packs, and git finds nothing wrong', async (context) => {
  const store = open()
  let parents: readonly string[] = []
  for (let i = 0; i < 200; i++)
    parents = [(await commitOn(store, 'refs/heads/a', `content ${i}`, parents)).commit]
  expect(store.packs.names().length).toBeLessThan(64)
  const reader = open()
  let count = 0
  for (let at = reader.ref('refs/heads/a'); at !== null; count++)
    at = (await reader.readCommit(at)).parents[0] ?? null
  expect(count).toBe(200)
  if (!hasGit) context.skip(noGit)
  expect(desk.fsck()).toBe('')
  expect(git(desk.repository, 'rev-list', '--count', 'refs/heads/a')).toBe('200\n')
})

test('a reader that began before packs were merged finds everything after', async () => {
  const [writer, reader] = [open(), open()]
  const first = await commitOn(writer, 'refs/heads/a', 'the first')
  await reader.read(first.oid)
  let parents = [first.commit]
  for (let i = 0; i < 60; i++)
    parents = [(await commitOn(writer, 'refs/heads/a', `content ${i}`, parents)).commit]
  expect((await reader.read(first.oid)).bytes.toString()).toBe('the first')
  expect((await reader.readCommit(parents[0] as string)).message).toBe('holds content 59')
})

describe('a file of more than 100 MB', () => {
  test('goes in, and comes out again, with memory that stays bounded', async (context) => {
    const size = 120 * 1024 * 1024
    const path = join(desk.root, 'large')
    const file = fs.openSync(path, 'w')
    const block = Buffer.alloc(1024 * 1024)
    const expected = createHash('sha256')
    for (let i = 0; i < 120; i++) {
      // Not all of it alike, and not all of it noise.
      block.fill(`block ${i} `)
      createHash('sha512').update(`${i}`).digest().copy(block, i)
      fs.writeSync(file, block)
      expected.update(block)
    }
    fs.closeSync(file)
    const store = open()
    let peak = 0
    const watch = setInterval(() => {
      const { rss } = process.memoryUsage()
      peak = Math.max(peak, rss)
    }, 5)
    const before = process.memoryUsage().rss
    const oid = await store.writing((batch) => batch.addStream(size, () => piecesOf(nodeWorkFs, path)))
    const found = createHash('sha256')
    let got = 0
    for await (const piece of store.stream(oid as string)) {
      found.update(piece)
      got += piece.length
    }
    clearInterval(watch)
    expect(got).toBe(size)
    expect(found.digest('hex')).toBe(expected.digest('hex'))
    expect(peak - before).toBeLessThan(80 * 1024 * 1024)
    if (!hasGit) context.skip(noGit)
    expect(git(desk.root, 'hash-object', '--no-filters', path).trim()).toBe(oid)
    expect(git(desk.repository, 'cat-file', '-s', oid as string).trim()).toBe(`${size}`)
  })

  test('is tracked and restored as any other', async () => {
    const talk = new Talk(desk)
    const large = Buffer.alloc(101 * 1024 * 1024, 'a line of text\n')
    desk.write('large', large)
    const turn = await talk.prompt()
    await talk.edit('large', 'short')
    await talk.undo(turn)
    expect(fs.readFileSync(desk.path('large')).equals(large)).toBe(true)
  })
})

describe('deltas', () => {
  const bytes = fc.array(fc.uint8Array({ minLength: 10, maxLength: 60 }), { maxLength: 12 })
  test('a delta gives back the target, whatever is moved, cut or put between', () => {
    fc.assert(
      fc.property(
        bytes,
        fc.array(fc.tuple(fc.nat(11), fc.option(fc.uint8Array({ maxLength: 300 })))),
        (blocks, edits) => {
          const base = Buffer.concat(blocks)
          const target = Buffer.concat(edits.map(([i, extra]) => Buffer.from(extra ?? blocks[i] ?? [])))
          const delta = makeDelta(base, target)
          if (delta !== null) expect(applyDelta(base, delta).equals(target)).toBe(true)
        },
      ),
      { numRuns: 300 },
    )
  })

  test('long copies, and offsets past 64 KiB, are written in parts', () => {
    const base = Buffer.alloc(300_000)
    for (let i = 0; i < base.length; i += 4) base.writeUInt32LE(Math.imul(i, 2654435761) >>> 0, i)
    const target = Buffer.concat([
      base.subarray(70_000, 290_000),
      Buffer.from('between'),
      base.subarray(0, 66_000),
    ])
    const delta = makeDelta(base, target)
    expect(delta?.length).toBeLessThan(200)
    expect(applyDelta(base, delta as Buffer).equals(target)).toBe(true)
  })
})

describe('gc', () => {
  const history = async (): Promise<Talk> => {
    const talk = new Talk(desk)
    const lines = Array.from({ length: 300 }, (_, i) => `line ${i} of a file that changes little by little`)
    for (let turn = 0; turn < 40; turn++) {
      await talk.prompt()
      lines[(turn * 7) % 300] = `line changed in turn ${turn}`
      await talk.edit(`src/f${turn % 4}.ts`, lines.join('\n'))
    }
    return talk
  }

  for (const withGit of [false, true])
    test(`${withGit ? 'by git' : 'in process'}: everything reached is there, nothing else, and little is left of it`, async (context) => {
      if (withGit && !hasGit) context.skip(noGit)
      const talk = await history()
      const gone = new Talk(desk)
      await gone.edit('other.ts', 'only in the session that goes')
      const lost = gone.state().files.get('workspace/other.ts')?.last.oid as string
      await done(desk.checkpoints.purge(gone.id))
      const dry = await done(desk.checkpoints.collect({ dryRun: true }))
      expect(dry.freedObjects).toBeGreaterThan(0)
      expect(open().has(lost)).toBe(true)
      const { before, after, freedObjects } = await done(desk.checkpoints.collect({ git: withGit }))
      expect(freedObjects).toBe(dry.freedObjects)
      expect(after).toBeLessThan(before * 0.7)
      const store = open()
      expect(store.has(lost)).toBe(false)
      for (const event of talk.events.values())
        for (const { oid } of (event.files ?? []) as { oid?: string }[])
          if (oid !== undefined) await store.read(oid)
      expect(await done(desk.checkpoints.missing())).toEqual([])
      if (!hasGit) context.skip(noGit)
      expect(desk.fsck()).toBe('')
    })

  test('in process stays within 3 times of what git would leave', async (context) => {
    if (!hasGit) context.skip(noGit)
    await history()
    const { after } = await done(desk.checkpoints.collect({ git: false }))
    git(desk.repository, 'gc', '-q', '--prune=now', '--aggressive')
    const byGit = [...open().sizes().values()].reduce((a, b) => a + b, 0)
    expect(after / byGit).toBeLessThan(3)
  })

  test("git's own gc, run by the user, hurts nothing: deltas and packed refs are read", async (context) => {
    if (!hasGit) context.skip(noGit)
    const talk = await history()
    git(desk.repository, 'gc', '-q', '--prune=now')
    expect(fs.existsSync(join(desk.repository, 'refs/heads', talk.id))).toBe(false)
    talk.checkpoints = desk.open()
    const second = [...talk.events.values()].filter(({ type }) => type === 'message')[1]
    await talk.undo(second?.id as string)
    expect(Object.keys(desk.tree())).toEqual(['src/', 'src/f0.ts'])
    await talk.edit('src/f0.ts', 'new')
    expect(desk.fsck()).toBe('')
    await done(talk.checkpoints.archive(talk.id))
    expect([...open().refs().keys()]).toEqual([`refs/archive/${talk.id}`])
    await done(talk.checkpoints.purge(talk.id))
    expect([...open().refs()]).toEqual([])
  })

  test('an archived session keeps its checkpoints, and comes back whole', async () => {
    const talk = await history()
    await done(desk.checkpoints.archive(talk.id))
    await done(desk.checkpoints.collect())
    await done(desk.checkpoints.unarchive(talk.id))
    talk.checkpoints = desk.open()
    const first = [...talk.events.values()].find(({ type }) => type === 'message')
    await talk.undo(first?.id as string)
    await talk.redo()
    expect(await done(talk.checkpoints.missing())).toEqual([])
  })

  test('while others write, nothing of theirs is lost', async (context) => {
    const talk = await history()
    const writer = new Talk(desk)
    writer.checkpoints = desk.open()
    const writing = (async () => {
      for (let i = 0; i < 30; i++) await writer.edit('busy.ts', `content ${i % 7} of a busy file`)
    })()
    for (let i = 0; i < 4; i++) await done(talk.checkpoints.collect({ git: i % 2 === 0 }))
    await writing
    const failed = [...writer.events.values()].filter((event) => event.failed !== undefined)
    expect(failed).toEqual([])
    expect(await done(desk.open().missing())).toEqual([])
    if (!hasGit) context.skip(noGit)
    expect(desk.fsck()).toBe('')
  })

  test('space is told by session', async () => {
    const talk = await history()
    const other = new Talk(desk)
    await other.edit('other.ts', 'x'.repeat(1000))
    const space = await done(desk.checkpoints.space())
    expect(space.unreachedBytes).toBe(0)
    expect(space.sessions.map(({ session }) => session).sort()).toEqual([talk.id, other.id].sort())
    const own = space.sessions.find(({ session }) => session === other.id)
    expect(own?.ownBytes).toBeGreaterThan(0)
    expect(own?.ownBytes).toBeLessThan(space.bytes)
    expect(own?.checkpoints).toBe(2)
  })
})
