import { describe, expect, it } from 'vitest'
import { KeyCounts } from '../../src/formats/key-counts.js'
import { Recent, RecentNodes } from '../../src/formats/recent.js'
import { KnownEvents } from '../../src/session/import/known-events.js'

/** What readers and the importer hold of a source, however long it is. */

describe('counts of keys', () => {
  it('count each key by itself, through every growth of the table', () => {
    const counts = new KeyCounts()
    for (let i = 0; i < 5000; i++) expect(counts.add(`key ${i}`)).toBe(1)
    for (let i = 0; i < 5000; i += 7) expect(counts.add(`key ${i}`)).toBe(2)
    expect(counts.add('key 7')).toBe(3)
    expect(counts.add('key 8')).toBe(2)
  })
})

describe('what came last', () => {
  it('is known at least so far back, and at most twice as far', () => {
    const recent = new Recent<number>(10)
    for (let i = 0; i < 35; i++) recent.set(`${i}`, i)
    const known = Array.from({ length: 35 }, (_, i) => i).filter((i) => recent.has(`${i}`))
    expect(known).toEqual([20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32, 33, 34])
    expect(recent.get('34')).toBe(34)
    expect(recent.get('19')).toBeUndefined()
  })

  it('holds nothing of what stands above it', () => {
    const nodes = new RecentNodes<{ parent: object | null; readonly at: number }>(4)
    const all = Array.from({ length: 14 }, (_, at) => ({ parent: null as object | null, at }))
    for (const [i, node] of all.entries()) {
      node.parent = all[i - 1] ?? null
      nodes.push(node)
    }
    const known = [...nodes].map(({ at }) => at)
    expect(known).toEqual([8, 9, 10, 11, 12, 13])
    expect(nodes.hasForgotten).toBe(true)
    expect(all.map(({ parent }) => parent !== null)).toEqual(all.map(({ at }) => at >= 8))
  })
})

describe('events that are known by their keys', () => {
  const known = (i: number, isRedacted = false) => ({
    id: i.toString(16).padStart(32, '0'),
    digest: (i * 3).toString(16).padStart(64, '1'),
    content: (i * 5).toString(16).padStart(64, '2'),
    isRedacted,
  })
  // The digits that are kept are the first: these differ there.
  const turned = (i: number) => {
    const { id, digest, content, isRedacted } = known(i)
    const turn = (text: string) => [...text].reverse().join('')
    return { id, digest: turn(digest), content: turn(content), isRedacted }
  }

  it('are found, and compared, each by itself', () => {
    const events = new KnownEvents()
    for (let i = 0; i < 3000; i++) events.set(`key ${i}`, turned(i))
    for (let i = 0; i < 3000; i += 13) {
      expect(events.idOf(`key ${i}`)).toBe(known(i).id)
      expect(events.compare(`key ${i}`, turned(i).digest)).toBe('same')
      expect(events.compare(`key ${i}`, turned(i + 1).digest)).toBe('changed')
      expect(events.hasContent(`key ${i}`, turned(i).content)).toBe(true)
      expect(events.hasContent(`key ${i}`, turned(i + 1).content)).toBe(false)
    }
    expect(events.has('key 3000')).toBe(false)
    expect(events.idOf('key 3000')).toBeNull()
    expect(events.compare('key 3000', turned(1).digest)).toBeNull()
  })

  it('take the newest that is set, and stay redacted', () => {
    const events = new KnownEvents()
    events.set('key', turned(1))
    events.set('key', { ...turned(2), isRedacted: true })
    expect(events.idOf('key')).toBe(known(2).id)
    expect(events.compare('key', turned(2).digest)).toBe('redacted')
  })
})
