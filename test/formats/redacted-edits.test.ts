import { describe, expect, it } from 'vitest'
import type { Event } from '../../src/events/event.js'
import { formats } from '../../src/formats/registry.js'
import type { Outgoing, Written } from '../../src/formats/writer.js'
import { idAt, native } from './native.js'
import { contextOf } from './round-trip.js'

const writers = formats.flatMap((format) =>
  format.writer === undefined ? [] : [[format.name, format.writer] as const],
)

const bytesOf = async ({ files }: Written): Promise<string> => {
  const pieces: Buffer[] = []
  for (const { content, merge } of files)
    if (merge === undefined) for await (const piece of content()) pieces.push(Buffer.from(piece))
    else pieces.push(Buffer.from(await merge(null)))
  return Buffer.concat(pieces).toString()
}

/** A session whose edits were redacted: tombstones, of which the structure was kept. */
const redacted = (session: Outgoing, kept: (id: string) => object): Outgoing => ({
  ...session,
  events: session.events.map(({ id, parent, at, type, ...rest }) =>
    type === 'edit'
      ? ({ id, parent, at, type, body: '0'.repeat(64), redacted: true, kept: kept(id) } as Event)
      : { id, parent, at, type, ...rest },
  ),
})

const secret = 'Trigger is the horse'
const system = { role: 'system', content: `be kind: ${secret}` }
const edited = native([
  { name: 'system', ...system },
  { name: 'asked', role: 'user', content: 'hello' },
  { name: 'told', role: 'assistant', content: 'good day' },
  {
    name: 'short',
    type: 'compaction',
    summary: 'greetings',
    through: idAt('told'),
    keep: [{ id: idAt('system'), message: system }],
  },
  { name: 'more', role: 'user', content: `my horse: ${secret}` },
  { name: 'fine', role: 'assistant', content: 'a fine name' },
  { name: 'first', type: 'edit', target: idAt('system'), replacement: 'be kinder' },
  { name: 'second', type: 'edit', target: idAt('more'), replacement: 'my horse' },
])
const targets = new Map([
  [idAt('first'), idAt('system')],
  [idAt('second'), idAt('more')],
])

describe.each(writers)('a redacted edit, written for %s', (_name, writer) => {
  it('still hides what it replaced, and says that it was redacted', async () => {
    const session = redacted(edited, (id) => ({ target: targets.get(id) }))
    expect(JSON.stringify(contextOf(session))).not.toContain(secret)
    const text = await bytesOf(await writer.write(session))
    expect(text).not.toContain(secret)
    expect(text).toContain('[redacted]')
    expect(text).toContain('a fine name')
  })

  it('takes away what it took away, where it gave nothing in its place', async () => {
    const session = redacted(edited, (id) => ({ target: targets.get(id), replacement: null }))
    expect(JSON.stringify(contextOf(session))).not.toMatch(/Trigger|redacted/)
    expect(await bytesOf(await writer.write(session))).not.toMatch(/Trigger|redacted/)
  })
})
