import { createHash } from 'node:crypto'
import * as E from 'fp-ts/lib/Either.js'
import { describe, expect, it } from 'vitest'
import { maxInlineText, maxLine } from '../../src/events/blob.js'
import { noteTypes, payloads } from '../../src/events/event.js'
import { recoveryWindow } from '../../src/events/file-log/constants.js'
import { parseLine, proveLine } from '../../src/events/line.js'
import { emptyRow } from '../../src/projections/row.js'
import { blocksOf, headingsOf, read } from './pages.js'

const text = read('docs/FORMAT.md')
const sectionOf = (heading: string): string => {
  const begun = text.split(`\n${heading}\n`)[1] ?? ''
  return begun.split(/\n#{1,3} /)[0] ?? ''
}
const sha256 = (bytes: string): string => createHash('sha256').update(bytes).digest('hex')

describe('docs/FORMAT.md', () => {
  it('has a section for every type of format 1, and for no other', () => {
    const types = text.split('\n## The types\n')[1]?.split('\n## ')[0] ?? ''
    const named = headingsOf(types).flatMap((heading) => /^`([a-z]+)`$/.exec(heading)?.[1] ?? [])
    expect(named.filter((name) => name !== 'row').sort()).toEqual(Object.keys(payloads).sort())
  })

  it.each(Object.keys(payloads))('says of %s whether it is a note', (type) => {
    expect(sectionOf(`### \`${type}\``).startsWith('Note')).toBe(noteTypes.has(type))
  })

  it.each(Object.entries(payloads))('names every member of %s', (type, codec) => {
    const section = sectionOf(`### \`${type}\``)
    const unnamed = membersOf(codec).filter((member) => !section.includes(member))
    expect(unnamed).toEqual([])
  })

  it('names every member of the row of a head event', () => {
    const rows = text.split('#### `row`')[1]?.split('\n### ')[0] ?? ''
    expect(Object.keys(emptyRow).filter((member) => !rows.includes(`\`${member}\``))).toEqual([])
  })

  it('gives the limits that the code has', () => {
    expect(maxInlineText).toBe(64 * 1024)
    expect(maxLine).toBe(1024 * 1024)
    expect(recoveryWindow).toBe(4 * 1024 * 1024)
    for (const said of ['over 64 KiB (65,536 bytes', '1 MiB less 1 KiB', 'last 4 MiB'])
      expect(text).toContain(said)
  })
})

describe('the worked example in docs/FORMAT.md', () => {
  const example = text.split('### A worked example')[1]?.split('\n### ')[0] ?? ''
  const blocks = blocksOf(example)
  const lines = (blocks.find(({ language }) => language === 'json')?.text ?? '').trimEnd().split('\n')

  it.each(lines)('line %#: proves itself and parses', (line) => {
    const proved = proveLine(Buffer.from(line), 0)
    if (typeof proved === 'string') throw new Error(`no line: ${proved}`)
    expect(E.isRight(parseLine(proved))).toBe(true)
  })

  it('hangs each event on the one before', () => {
    const events = lines.map((line) => JSON.parse(line) as { id: string; parent: string | null })
    expect(events.map(({ parent }) => parent)).toEqual([null, events[0]?.id, events[1]?.id])
  })

  it('computes by hand what it says that it computes', () => {
    const commands = blocks.filter(({ language }) => language === 'sh').map((block) => block.text)
    const results = blocks.filter(({ language }) => language === '').map((block) => block.text.trim())
    const hashed = commands.map((command) => sha256(/^printf '%s' '(.*)' \|/.exec(command)?.[1] ?? ''))
    expect([hashed[0], hashed[1]?.slice(0, 32)]).toEqual(results)
    const second = JSON.parse(lines[1] ?? '{}') as { id: string }
    expect(results[1]).toBe(second.id)
    expect(commands[1]).toContain(`"body":"${results[0]}"`)
  })

  it('has the members of a line at the bytes that the page gives', () => {
    const [rootLine = '', line = ''] = lines
    expect(line.slice(7, 39)).toBe((JSON.parse(line) as { id: string }).id)
    expect(line.slice(51, 83)).toBe((JSON.parse(rootLine) as { id: string }).id)
    expect(line.slice(91, 115)).toBe('2026-12-01T09:00:01.000Z')
    expect(line.slice(125, 132)).toBe('message')
    expect(rootLine.slice(50, 54)).toBe('null')
    expect(rootLine.slice(61, 85)).toBe('2026-12-01T09:00:00.000Z')
    expect(rootLine.slice(95, 102)).toBe('session')
  })
})

/** The members that a codec names, however it is put together. */
function membersOf(codec: unknown): readonly string[] {
  const { props, types } = codec as { props?: Record<string, unknown>; types?: readonly unknown[] }
  if (types !== undefined) return types.flatMap(membersOf)
  return Object.keys(props ?? {})
}
