import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import type { EventItem, Item } from '../../src/formats/format.js'
import { formats } from '../../src/formats/registry.js'
import { eventsOf, itemsOf, payloadOf, problemsOf } from './check-items.js'

const folder = fileURLToPath(new URL('../../samples', import.meta.url))
const claude = formats[0]!

const readAll = async (): Promise<Map<string, Item[]>> => {
  const read = new Map<string, Item[]>()
  for (const format of formats)
    for (const source of await format.find(folder))
      read.set(`${format.name} ${source}`, await itemsOf(format, source))
  return read
}
const all = await readAll()
const of = (name: string): Item[] =>
  [...all].filter(([key]) => key.startsWith(name)).flatMap(([, items]) => items)
const types = (items: readonly Item[]): Set<string> => new Set(eventsOf(items).map(({ type }) => type))

/** Events that nothing hangs on, notes and snapshots apart. */
const ends = (items: readonly Item[]): EventItem[] => {
  const events = eventsOf(items).filter(({ type }) => !['title', 'status', 'process'].includes(type))
  return events.filter(
    ({ key, session }) => !events.some((other) => other.session === session && other.parent === key),
  )
}

describe('the sessions that ship with Coppice', () => {
  it('are found by their format alone', () => {
    expect([...all.keys()].map((key) => key.split(' ')[0])).toEqual([
      'claude',
      'claude',
      'deepcode',
      'deepcode',
      'zettcode',
      'zettcode',
    ])
  })

  it('read whole', () => {
    for (const [source, items] of all) {
      expect(problemsOf(items), source).toEqual([])
      expect(
        items.filter(({ kind }) => kind === 'failed'),
        source,
      ).toEqual([])
    }
  })

  it('show a branch, a compaction, reasoning, a failed tool, an image and a title each', () => {
    for (const name of ['claude', 'deepcode', 'zettcode']) {
      const events = eventsOf(of(name))
      const payloads = events.map(payloadOf)
      expect(types(of(name)), name).toEqual(new Set([...types(of(name)), 'message', 'compaction', 'title']))
      expect(
        payloads.some(({ reasoning }) => reasoning !== undefined),
        name,
      ).toBe(true)
      expect(
        payloads.some(({ ok }) => ok === false),
        name,
      ).toBe(true)
      expect(JSON.stringify(payloads), name).toContain('"media":"image/png"')
      expect(JSON.stringify(payloads), name).toMatch(/\p{Script=Han}/u)
    }
  })

  it('tell of a tea timer in three branches, and leave the head on the one with hours', () => {
    const items = [...all].find(([key]) => key.startsWith('claude'))?.[1] ?? []
    const move = items.find(({ kind }) => kind === 'move')
    expect(ends(items)).toHaveLength(3)
    expect(move).toMatchObject({ reason: 'checkout' })
    const child = [...all].filter(([key]) => key.startsWith('claude'))[1]?.[1][0]
    const main = items[0]?.kind === 'session' ? items[0].session : ''
    expect(child).toMatchObject({
      kind: 'session',
      startedBy: { session: main, event: expect.any(String) },
    })
    expect(
      eventsOf(items)
        .filter(({ type }) => type === 'title')
        .map((item) => payloadOf(item).title),
    ).toEqual(['Fix late tea timer', 'Tea timer: late ring, then hours'])
    expect(claude.folders({ home: '', env: { CLAUDE_CONFIG_DIR: `${folder}/claude` } })).toEqual([
      `${folder}/claude/projects`,
    ])
  })
})
