import { spawnSync } from 'node:child_process'
import { chmodSync, existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { systemPorts } from '../../src/events/system.js'
import type { SearchHit, SearchOptions, SearchProblem, Store } from '../../src/session/api.js'
import { Finder } from '../../src/session/search/excerpt.js'
import { foldText, shownText } from '../../src/session/search/fold.js'
import { forget } from '../../src/session/search/forget.js'
import { openStore } from '../../src/session/store/store.js'
import { newFolder } from '../cli/folders.js'
import { assistant, memoryStore, newSession, result, user } from './stores.js'

const hitsOf = async (store: Store, options: SearchOptions): Promise<readonly SearchHit[]> => {
  const hits: SearchHit[] = []
  for await (const hit of store.search(options)) hits.push(hit)
  return hits
}
const excerpts = async (store: Store, text: string): Promise<readonly string[]> =>
  (await hitsOf(store, { text })).map(({ excerpt }) => excerpt)

/** A store on disk, and the logs that were read in it, by session. */
const diskStore = async () => {
  const path = join(newFolder(), 'store')
  const read: string[] = []
  const { fs } = systemPorts
  const counting = {
    ...fs,
    open: (file: string, mode: Parameters<typeof fs.open>[1]) => {
      const session = /([0-9a-f]{32})\/data\.jsonl$/.exec(file)?.[1]
      if (session !== undefined && mode === 'read') read.push(session)
      return fs.open(file, mode)
    },
  }
  const store = await openStore(path, { durability: 'none', fs: counting })
  const workspace = newFolder()
  const session = async (...drafts: readonly object[]): Promise<string> => {
    const made = await store.create({ workspace })
    if (drafts.length > 0) await made.append(drafts as never)
    made.close()
    return made.id
  }
  const logOf = (id: string): string => {
    const [key = ''] = readdirSync(join(path, 'projects'))
    return join(path, 'projects', key, id, 'data.jsonl')
  }
  return { path, store, session, logOf, read, workspace, database: join(path, 'search', 'index.db') }
}

describe('what a search compares', () => {
  it('is the text without case, composed, with white space as one blank', () => {
    for (const text of ['a \n b', 'a\t\tb', 'A\u00a0 B', 'a\u3000b', 'a \r\n\tb'])
      expect(foldText(text)).toBe('a b')
    expect(foldText('E\u0301')).toBe('é')
    expect(foldText('ΟΔΟΣ')).toBe(foldText('οδος'))
    const samples = ['a b', ' a', 'a ', '  ', '\n', 'a\n\nb  c d\te', '\u2028x \u2029 y']
    for (const text of samples) expect(shownText(text)).toBe(text.replace(/\s+/g, ' '))
  })

  it('shows a hit on one line with what stands around it, whole code points, marked where it was cut', () => {
    const found = new Finder('needle').find([`${'x😀'.repeat(100)} the\nNEEDLE ${'y'.repeat(400)}`])
    expect(found?.excerpt.slice(found.from, found.to)).toBe('NEEDLE')
    expect(found?.excerpt).toMatch(/^….* the NEEDLE y+…$/u)
    expect(Buffer.from(found?.excerpt ?? '').toString()).toBe(found?.excerpt)
    expect(found?.excerpt.length).toBeLessThan(205)
  })

  it('marks the hit where letters before it fold to more than one', () => {
    const found = new Finder('needle').find(['İİİ needle'])
    expect(found?.excerpt.slice(found.from, found.to)).toBe('needle')
  })

  it('marks the whole letter where the hit is a part of what it folds to', () => {
    for (const text of ['i', 'I', '\u0307']) {
      const found = new Finder(text).find(['an İ here'])
      expect(found?.excerpt.slice(found.from, found.to)).toBe('İ')
    }
  })
})

describe('what is searched', () => {
  it('is what was said by all, reasoning, calls, results, titles, labels and summaries, on every branch', async () => {
    const { store, session } = await diskStore()
    await session(
      { type: 'title', title: 'kiwi title', by: 'user' },
      user([{ type: 'text', text: 'kiwi prompt' }]),
      assistant(null, {
        reasoning: [{ text: 'kiwi thought' }],
        toolCalls: [{ id: 'c', name: 'kiwiTool', arguments: '{"command":"say \\"kiwi\\" twice"}' }],
      }),
      result('c', `${'long '.repeat(20_000)} kiwi result`),
      user('kiwi hidden', { visible: false }),
      { type: 'custom', name: 'note', data: null, content: 'kiwi custom' },
    )
    const types = (await hitsOf(store, { text: 'KIWI' })).map(({ type, role }) => role ?? type)
    expect(types).toEqual(['custom', 'user', 'tool', 'assistant', 'user', 'title'])
    expect(await excerpts(store, 'say "kiwi" twice')).toHaveLength(1)
    expect(await excerpts(store, 'kiwi thought')).toHaveLength(1)
    expect((await hitsOf(store, { text: 'kiwi', role: 'tool' })).map(({ role }) => role)).toEqual(['tool'])
    store.close()
  })

  it('is found by one character and by two, of any script', async () => {
    const { store, session } = await diskStore()
    await session(user('会话'), user('ok'), user('q'))
    expect(await excerpts(store, '话')).toEqual(['会话'])
    expect(await excerpts(store, '会话')).toEqual(['会话'])
    expect(await excerpts(store, 'K')).toEqual(['ok'])
    expect(await excerpts(store, 'q')).toEqual(['q'])
    store.close()
  })

  it('is found by code points that SQLite reads as others', async () => {
    const { store, session } = await diskStore()
    const texts = ['\0', '\ufffd', '\ufffe', '\uffff', '\ufeff.', '\u{1fffe}', '\u{1ffff}', '\u{10ffff}']
    for (const text of texts) await session(user(`${text} a${text}b ab${text}`))
    for (const text of texts)
      for (const asked of [`${text} a`, `a${text}`, text.trim(), `a${text}b a`])
        expect(await hitsOf(store, { text: asked })).toEqual(await hitsOf(store, { text: asked, scan: true }))
    expect(await excerpts(store, '\uffff')).toEqual(['\uffff a\uffffb ab\uffff'])
    store.close()
  })

  it('is searched in a store in memory too, without an index', async () => {
    const store = await memoryStore()
    const session = await newSession(store)
    await session.append(user('a needle') as never)
    session.close()
    expect(await excerpts(store, 'Needle')).toEqual(['a needle'])
  })
})

describe('the search index', () => {
  it('reads no log but those that hold a hit, and of a log that grew only what is new', async () => {
    const { store, session, read } = await diskStore()
    const hit = await session(user('the needle'))
    for (let i = 0; i < 5; i++) await session(user(`hay ${i}`))
    await hitsOf(store, { text: 'needle' })
    read.length = 0
    expect(await excerpts(store, 'needle')).toEqual(['the needle'])
    expect(read).toEqual([hit])
    read.length = 0
    expect(await excerpts(store, 'nowhere')).toEqual([])
    expect(read).toEqual([])
    const open = await store.open(hit)
    await open.append(user('another needle') as never)
    open.close()
    read.length = 0
    expect(await excerpts(store, 'another needle')).toEqual(['another needle'])
    expect(new Set(read)).toEqual(new Set([hit]))
    store.close()
  })

  it('is private, and asks nothing of the umask', async () => {
    const { store, session, path } = await diskStore()
    await session(user('x needle'))
    await hitsOf(store, { text: 'needle' })
    expect(statSync(join(path, 'search')).mode & 0o777).toBe(0o700)
    for (const name of readdirSync(join(path, 'search')))
      expect(statSync(join(path, 'search', name)).mode & 0o777).toBe(0o600)
    store.close()
  })

  it('lets go of what is forgotten: nothing of it stands in its file', async () => {
    const { store, session, database } = await diskStore()
    const secret = await session(user('the password is zqxjkv'))
    await session(user('hay and hay'))
    await hitsOf(store, { text: 'nowhere' })
    expect(readFileSync(database).includes('qxj')).toBe(true)
    await forget(store.home, secret)
    expect(readFileSync(database).includes('qxj')).toBe(false)
    expect(await excerpts(store, 'hay and')).toEqual(['hay and hay'])
    store.close()
  })

  it('lets go of what was archived, and finds it again once it is back', async () => {
    const { store, session, workspace } = await diskStore()
    const gone = await session(user('the needle'))
    await session(user('hay'))
    expect(await excerpts(store, 'needle')).toHaveLength(1)
    await store.archive(gone, 'archive')
    expect(await excerpts(store, 'needle')).toEqual([])
    await store.unarchive(gone)
    expect(await excerpts(store, 'needle')).toHaveLength(1)
    expect(await hitsOf(store, { text: 'needle', workspace })).toHaveLength(1)
    expect(await hitsOf(store, { text: 'needle', workspace: newFolder() })).toEqual([])
    store.close()
  })

  it('outlives what a killed process left: its lock, and half a write', async () => {
    const { store, session, database, path } = await diskStore()
    await session(user('the needle'))
    await hitsOf(store, { text: 'needle' })
    systemPorts.fs.makeDir(`${database}.lock`)
    expect(await excerpts(store, 'needle')).toEqual(['the needle'])
    systemPorts.fs.remove(join(path, 'search', 'mark'))
    writeFileSync(database, 'no database')
    expect(await excerpts(store, 'needle')).toEqual(['the needle'])
    expect(readFileSync(database).subarray(0, 6).toString()).toBe('SQLite')
    store.close()
  })

  it('is done without where another process holds it', async () => {
    const { store, session, path } = await diskStore()
    await session(user('the needle'))
    await hitsOf(store, { text: 'needle' })
    const lock = systemPorts.fs.open(join(path, 'search', 'lock'), 'create')
    lock.tryLock('exclusive')
    expect(await excerpts(store, 'needle')).toEqual(['the needle'])
    lock.close()
    store.close()
  })

  it('is done without where the store cannot be written', async () => {
    const { store, session, path, workspace } = await diskStore()
    await session(user('the needle'))
    store.close()
    chmodSync(path, 0o500)
    const script = `
      const { openStore } = await import(${JSON.stringify(new URL('../../dist/index.js', import.meta.url).href)})
      const store = await openStore(${JSON.stringify(path)})
      for await (const hit of store.search({ text: 'needle', workspace: ${JSON.stringify(workspace)} })) console.log(hit.excerpt)
      store.close()`
    const asNobody = process.getuid?.() === 0 ? ['setpriv', '--bounding-set=-all', '--inh-caps=-all'] : []
    const [command = '', ...args] = [...asNobody, process.execPath, '--input-type=module', '-e', script]
    const { stdout } = spawnSync(command, args, { encoding: 'utf8' })
    expect(stdout).toBe('the needle\n')
    expect(existsSync(join(path, 'search'))).toBe(false)
    chmodSync(path, 0o700)
  })
})

describe('a damaged session', () => {
  it('is named each time, what can be read of it is found, and the rest goes on', async () => {
    const { store, session, logOf } = await diskStore()
    const bad = await session(user('needle one'), user('needle two'), user('needle three'))
    await session(user('needle four'))
    const bytes = readFileSync(logOf(bad))
    bytes[bytes.indexOf('needle two')] = 0x4e
    writeFileSync(logOf(bad), bytes)
    for (const scan of [true, false, false]) {
      const problems: SearchProblem[] = []
      const hits = await hitsOf(store, { text: 'needle', scan, report: (problem) => problems.push(problem) })
      expect(hits.map(({ excerpt }) => excerpt)).toEqual(['needle four', 'needle three', 'needle one'])
      expect(problems).toMatchObject([
        { session: bad, damage: { kind: 'undecodable', line: 3 } },
        { session: bad, damage: { kind: 'missing-parent', line: 4 } },
      ])
    }
    store.close()
  })
})
