import * as E from 'fp-ts/lib/Either.js'
import { describe, expect, test } from 'vitest'
import {
  blobRefs,
  InStoredForm,
  maxInlineText,
  maxLine,
  resolveValues,
  type Stored,
  storeValues,
} from '../../src/events/blob.js'
import { type BlobRef, isBlobRef } from '../../src/events/content.js'
import { sha256 } from '../../src/events/id.js'
import { encodeLine } from '../../src/events/line.js'
import { path, root } from '../support/cuts.js'
import { left, logOn, right, timeAt } from '../support/logs.js'
import { failing, MemoryFs } from '../support/memory-fs.js'

const stored = (payload: object): Stored => {
  const result = storeValues(payload)
  if (E.isLeft(result)) throw result.left
  return result.right
}

const resolved = <T>({ payload, blobs }: Stored): Promise<T> =>
  resolveValues(payload as T, async ({ $blob }) => blobs.get($blob) as Buffer)

const lineOf = (payload: object): Buffer =>
  encodeLine(
    { parent: root.id, at: timeAt(1), type: 'x'.repeat(200), note: true },
    JSON.parse(JSON.stringify(payload)),
  ).bytes

const member = (payload: object, name: string): unknown => (payload as Record<string, unknown>)[name]

describe('a string', () => {
  test.each([
    ['ASCII', 'x', 1],
    ['two bytes a character', 'é', 2],
    ['three bytes a character', '€', 3],
    ['four bytes a character', '😀', 4],
  ])('of 64 KiB of %s stays in the line, and of one byte more is a blob', async (_, char, bytes) => {
    const count = Math.floor(maxInlineText / bytes)
    const exact = char.repeat(count) + 'x'.repeat(maxInlineText - count * bytes)
    expect(Buffer.byteLength(exact)).toBe(maxInlineText)
    expect(member(stored({ content: exact }).payload, 'content')).toBe(exact)
    const longer = stored({ content: `${exact}y` })
    expect(member(longer.payload, 'content')).toEqual({
      $blob: sha256(`${exact}y`),
      bytes: maxInlineText + 1,
      as: 'text',
    })
    expect(await resolved(longer)).toEqual({ content: `${exact}y` })
  })

  test('with a lone surrogate, where it is long, goes to a blob as JSON text', async () => {
    const text = `${'x'.repeat(70_000)}\ud800`
    const made = stored({ content: text })
    expect(member(made.payload, 'content')).toMatchObject({ as: 'json' })
    expect(await resolved(made)).toEqual({ content: text })
  })

  test('with a byte order mark keeps it', async () => {
    const text = `\ufeff${'x'.repeat(70_000)}`
    expect(await resolved(stored({ content: text }))).toEqual({ content: text })
  })

  test('that stands twice is stored once', () => {
    const text = 'x'.repeat(70_000)
    const { payload, blobs } = stored({ content: text, data: { again: text } })
    expect(blobs.size).toBe(1)
    expect(blobRefs(payload).length).toBe(2)
  })
})

describe('inline media', () => {
  test.each(['image', 'audio', 'document'])(
    'of an %s is a blob of its bytes, however small',
    async (type) => {
      const part = { type, media: 'x/y', data: Buffer.from([1, 2, 3]).toString('base64'), alt: 'tiny' }
      const made = stored({ role: 'user', content: [part] })
      const [kept] = member(made.payload, 'content') as [Record<string, unknown>]
      expect(kept).toEqual({
        type,
        media: 'x/y',
        data: { $blob: sha256(Buffer.from([1, 2, 3])), bytes: 3, media: 'x/y', as: 'base64' },
        alt: 'tiny',
      })
      expect(await resolved(made)).toEqual({ role: 'user', content: [part] })
    },
  )

  test.each(['AQI', 'AQI=\n', 'AQ-_', '%%%', '', 'data:image/png;base64,AQID'])(
    'that base64 would not give back (%j) is kept as text',
    async (data) => {
      const payload = { content: [{ type: 'image', media: 'image/png', data }] }
      const made = stored(payload)
      const [{ data: ref }] = member(made.payload, 'content') as [{ data: BlobRef }]
      expect(isBlobRef(ref)).toBe(true)
      expect(ref.as).toBe(data === '' ? 'base64' : 'text')
      expect(await resolved(made)).toEqual(payload)
    },
  )

  test('is found deep inside results of tools too', () => {
    const deep = { data: { a: [{ b: { type: 'image', data: 'AQID' } }] } }
    expect(stored(deep).blobs.size).toBe(1)
  })

  test('by url, or of another type, stays', () => {
    const payload = {
      content: [{ type: 'image', url: 'https://x/y' }],
      data: { type: 'chart', data: 'AQID' },
    }
    expect(stored(payload).payload).toEqual(payload)
  })
})

describe('a line', () => {
  const big = (count: number, size: number) =>
    Object.fromEntries(Array.from({ length: count }, (_, i) => [`k${i}`, `${i}`.padEnd(size, 'x')]))

  test.each([
    ['many strings below 64 KiB', { data: big(40, 60_000) }],
    ['tens of thousands of short strings', { data: big(60_000, 30) }],
    ['a long list of numbers', { name: 'n', data: Array.from({ length: 300_000 }, (_, i) => i) }],
    [
      'strings of characters that JSON escapes',
      {
        data: big(30, 60_000 / 6),
        text: '\u0001'.repeat(60_000).concat('"'.repeat(5_000)),
        more: '\u2028'.repeat(20_000),
        most: big(20, 50_000),
      },
    ],
    [
      'calls with long arguments',
      {
        role: 'assistant',
        content: null,
        toolCalls: Array.from({ length: 30 }, (_, i) => ({
          id: `c${i}`,
          name: 'n',
          arguments: 'a'.repeat(50_000) + i,
        })),
      },
    ],
  ])('of %s fits 1 MiB, and gives back what it held', async (_, payload) => {
    const made = stored(payload)
    expect(lineOf(made.payload).length).toBeLessThanOrEqual(maxLine)
    expect(await resolved(made)).toEqual(payload)
  })

  test('that cannot be made to fit is refused', () => {
    const keys = Object.fromEntries(
      Array.from({ length: 40_000 }, (_, i) => [`member number ${i} of many`, 1]),
    )
    const result = storeValues(keys)
    expect(E.isLeft(result) && result.left.reasons[0]).toContain('should fit a line')
  })

  test('keeps what folds read without resolving', () => {
    const payload = {
      role: 'assistant',
      toolCallId: 'id',
      group: 'g',
      content: 'c',
      toolCalls: [{ id: 'i', name: 'n', arguments: '' }],
      data: big(40, 60_000),
    }
    expect(stored(payload).payload).toMatchObject({
      role: 'assistant',
      toolCallId: 'id',
      group: 'g',
      toolCalls: [{ id: 'i', name: 'n' }],
    })
  })
})

describe('a payload', () => {
  test('with keys that begin with $ gets them back, at any depth, in blobs of JSON too', async () => {
    const lookalike = { $blob: sha256('x'), bytes: 1, as: 'text' }
    const payload = {
      $top: 1,
      $$two: { $blob: 'x' },
      content: lookalike,
      data: {
        $: [{ $$: lookalike }],
        many: Array.from({ length: 200_000 }, (_, i) => i),
        list: ['x'.repeat(70_000), { $k: 'y'.repeat(70_000) }],
      },
    }
    const made = stored(payload)
    expect(Object.keys(made.payload)).toEqual(['$$top', '$$$two', 'content', 'data'])
    expect(member(made.payload, 'data')).toMatchObject({ as: 'json' })
    expect(blobRefs(made.payload).length).toBe(1)
    expect(await resolved(made)).toEqual(payload)
  })

  test('with a __proto__ key keeps it and changes no prototype', async () => {
    const payload = JSON.parse(`{"__proto__":{"$a":"${'x'.repeat(70_000)}"},"data":{"__proto__":1,"$b":2}}`)
    const back = await resolved<object>(stored(payload))
    expect(JSON.stringify(back)).toBe(JSON.stringify(payload))
    expect(Object.getPrototypeOf(back)).toBe(Object.prototype)
  })

  test.each([
    [
      'a cycle',
      (() => {
        const a: Record<string, unknown> = {}
        a.a = a
        return a
      })(),
    ],
    ['a BigInt', { n: 1n }],
    ['a toJSON that makes no object of it', { toJSON: () => 5 }],
    ['a toJSON that makes a list of it', { toJSON: () => [1] }],
    ['a list', []],
    [
      'a depth that no reader could follow',
      (() => {
        let deep: unknown = 0
        for (let i = 0; i < 2_000; i++) deep = [deep]
        return { deep }
      })(),
    ],
  ])('with %s is refused', (_, payload) => {
    expect(E.isLeft(storeValues(payload))).toBe(true)
  })

  test('with members in their stored form moves the longest strings out, escapes nothing anew, and changes no fold', () => {
    const most = 1024 * 1024 - 1024
    const kept = [{ id: 'a', message: { content: 'k'.repeat(most), meta: { $$a: 1 } } }]
    const stored = storeValues({ summary: 's'.repeat(60_000), keep: new InStoredForm(kept) })
    if (E.isLeft(stored)) throw stored.left
    const { payload, text, blobs } = stored.right
    expect(Buffer.byteLength(text)).toBeLessThanOrEqual(most)
    expect([...blobs.values()].map(String)).toEqual(['k'.repeat(most)])
    expect(payload).toMatchObject({
      summary: 's'.repeat(60_000),
      keep: [{ message: { content: { as: 'text', bytes: most }, meta: { $$a: 1 } } }],
    })
    expect(kept[0]!.message.content).toHaveLength(most)
  })

  test('whose members in their stored form cannot be made to fit a line is refused', () => {
    const ids = Array.from({ length: 40_000 }, () => 'a'.repeat(32))
    const stored = storeValues({ summary: 's', keep: new InStoredForm(ids) })
    expect(E.isLeft(stored) && stored.left.reasons.join()).toMatch(/should fit a line of 1047552 bytes/)
  })

  test('moves what an origin keeps beside the model out whole, where the line would be too long', () => {
    const extra = Array.from({ length: 300_000 }, (_, i) => i)
    const stored = storeValues({ role: 'user', content: 'hi', origin: { format: 'f', id: '1', extra } })
    if (E.isLeft(stored)) throw stored.left
    expect(stored.right.payload).toMatchObject({ origin: { format: 'f', id: '1', extra: { as: 'json' } } })
  })

  const nested = (levels: number): object => {
    let deep: unknown = { $end: 'x'.repeat(70_000) }
    for (let i = 0; i < levels - 2; i++) deep = i % 2 === 0 ? [deep] : { deep }
    return { deep }
  }

  test('nested 500 levels deep is stored and resolved; one level more is refused', async () => {
    const made = stored(nested(500))
    expect(JSON.stringify(await resolved(made))).toBe(JSON.stringify(nested(500)))
    expect(E.isLeft(storeValues(nested(501)))).toBe(true)
  })
})

describe('the blobs of a session', () => {
  const bytes = Buffer.from('a large value')
  const name = sha256(bytes)
  const file = `/store/${root.id}/blobs/${name}`
  const ref: BlobRef = { $blob: name, bytes: bytes.length, as: 'text' }
  const withSession = (): MemoryFs => {
    const fs = new MemoryFs()
    fs.put(path, root.bytes)
    return fs
  }
  const blobs = new Map([[name, bytes]])

  test('are synced, folder entry included, before they are acked', async () => {
    const fs = withSession()
    const order: string[] = []
    fs.fault = (operation) => {
      if (['write', 'sync', 'rename', 'syncDir'].includes(operation)) order.push(operation)
      return undefined
    }
    await right(logOn(fs).blobs.put(root.id, blobs))
    // The folder is made beside, and renamed into its place. Their own folder, and the session's: the former may be what a killed process made and never synced.
    expect(order).toEqual(['rename', 'write', 'sync', 'rename', 'syncDir', 'syncDir'])
    expect(await logOn(fs.afterPowerCut()).blobs.get(root.id, ref)).toEqual(bytes)
  })

  test('are stored once: one that is there is only looked at and synced', async () => {
    const fs = withSession()
    await right(logOn(fs).blobs.put(root.id, blobs))
    const before = fs.count('write')
    await right(logOn(fs).blobs.put(root.id, blobs))
    expect(fs.count('write')).toBe(before)
    expect(logOn(fs).blobs.list(root.id)).toEqual([name])
  })

  test.each([
    ['empty', Buffer.alloc(0)],
    ['cut', bytes.subarray(0, 5)],
    ['of NULs', Buffer.alloc(bytes.length)],
  ])('of which a power cut left a file that is %s are written again', async (_, found) => {
    const fs = withSession()
    fs.put(file, found)
    await expect(logOn(fs).blobs.get(root.id, ref)).rejects.toMatchObject({ tag: 'Damaged' })
    await right(logOn(fs).blobs.put(root.id, blobs))
    expect(await logOn(fs).blobs.get(root.id, ref)).toEqual(bytes)
  })

  test('whose sync fails are not taken for stored the next time', async () => {
    const fs = withSession()
    fs.put(file, bytes)
    fs.fault = failing('sync', 'EIO')
    await right(logOn(fs).blobs.put(root.id, blobs))
    expect([fs.count('write'), fs.count('sync')]).toEqual([1, 2])
    fs.fault = failing('sync', 'EIO', 1, 2)
    expect((await left(logOn(fs).blobs.put(root.id, blobs))).tag).toBe('WriteFailed')
    expect(fs.paths()).toEqual([file, path].sort())
  })

  test.each(['ENOSPC', 'EROFS'])('that %s keeps out are refused, and leave nothing', async (code) => {
    const fs = withSession()
    fs.fault = failing('write', code)
    const refused = await left(logOn(fs).blobs.put(root.id, blobs))
    expect(refused.tag).toBe('WriteFailed')
    expect(refused.message).toContain(code)
    expect(fs.paths()).toEqual([path])
  })

  test('that are cut short by a full disk are refused', async () => {
    const fs = withSession()
    fs.fault = (operation) => (operation === 'write' ? 4 : undefined)
    expect((await left(logOn(fs).blobs.put(root.id, blobs))).tag).toBe('WriteFailed')
    expect(fs.paths()).toEqual([path])
  })

  test('named by no hash are never a path (INV-12), and unknown ones are not found', async () => {
    const fs = withSession()
    fs.put(`/store/${root.id}/secret`, Buffer.from('x'))
    for (const $blob of [
      '../secret',
      '../data.jsonl',
      '',
      'x'.repeat(64),
      name.toUpperCase(),
      `${name}/..`,
      'f'.repeat(64),
    ])
      await expect(logOn(fs).blobs.get(root.id, { ...ref, $blob })).rejects.toMatchObject({ tag: 'NotFound' })
  })

  test('of a session that was moved away make no folder in its place', async () => {
    const fs = withSession()
    fs.rename(`/store/${root.id}`, '/archive')
    expect((await left(logOn(fs).blobs.put(root.id, blobs))).tag).toBe('Moved')
    expect(logOn(fs).sessions()).toEqual([])
  })
})
