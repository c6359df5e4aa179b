import colors from 'picocolors'
import { beforeAll, describe, expect, it } from 'vitest'
import { drawTree } from '../../src/cli/draw-tree.js'
import { everyScript, loadWidths, widthOf } from '../../src/cli/width.js'
import type { Event } from '../../src/events/event.js'
import { fold } from '../../src/projections/replay.js'
import { tree } from '../../src/projections/tree.js'

const colours = colors.createColors(false)
const now = Date.parse('2026-12-01T12:00:00.000Z')
const idOf = (name: string): string => Buffer.from(name).toString('hex').padEnd(32, '0').slice(0, 32)

let minutes = 0
const event = (name: string, parent: string | null, type: string, payload: object = {}): Event => ({
  id: idOf(name),
  parent: parent === null ? null : idOf(parent),
  at: new Date(Date.parse('2026-12-01T09:00:00.000Z') + 60_000 * minutes++).toISOString(),
  type,
  ...payload,
})
const said = (name: string, parent: string, role: string, content: string, more: object = {}): Event =>
  event(name, parent, 'message', { role, content, ...more })
const call = { toolCalls: [{ id: 'c', name: 'bash', arguments: '{}' }] }

const drawn = (events: readonly Event[], columns = 70): readonly string[] =>
  drawTree(tree.view(fold(tree, events)), { columns, colours, now, title: 'A parser' })

const history = (): readonly Event[] => {
  minutes = 0
  return [
    event('root', null, 'session'),
    said('ask1', 'root', 'user', 'write a parser'),
    said('cal1', 'ask1', 'assistant', '', call),
    said('res1', 'cal1', 'tool', 'ok', { toolCallId: 'c' }),
    said('ans1', 'res1', 'assistant', 'the parser is written'),
    said('ask2', 'ans1', 'user', 'use yacc instead'),
    said('ans2', 'ask2', 'assistant', 'it uses yacc now'),
    event('und1', 'ans1', 'head', { to: idOf('ans1'), from: idOf('ans2'), reason: 'undo' }),
    said('ask3', 'und1', 'user', '用递归下降法重写解析器，并且不要使用任何生成器，也不要使用正则表达式'),
    event('lab1', 'ask3', 'label', { note: true, target: idOf('ask3'), label: 'by hand' }),
    said('ans3', 'ask3', 'assistant', 'done by hand'),
  ]
}

describe('the drawn tree', () => {
  beforeAll(() => loadWidths(everyScript))

  it('goes straight down to the head, and shows the branch that was left beside it', () => {
    expect(drawn(history())).toEqual([
      '◆ 726f6f74 A parser',
      '● 61736b31 write a parser',
      '┆ 1 assistant, 1 tool',
      '○ 616e7331 the parser is written',
      '├─● 61736b32 use yacc instead',
      '│ ○ 616e7332 (main, undone) it uses yacc now  2 h',
      '│',
      '● 61736b33 ([by hand]) 用递归下降法重写解析器，并且不要使用任何生成器…',
      '◉ 616e7333 (HEAD, main) done by hand  2 h',
    ])
  })

  it('keeps every line within the columns that there are', () => {
    for (let columns = 50; columns < 100; columns += 7)
      for (const line of drawn(history(), columns)) expect(widthOf(line)).toBeLessThanOrEqual(columns)
  })

  it('shows that two writers diverged', () => {
    const lines = drawn([
      event('root', null, 'session'),
      said('ask1', 'root', 'user', 'one'),
      said('ask2', 'root', 'user', 'two'),
    ])
    expect(lines.filter((line) => line.includes('diverged'))).toEqual([expect.stringContaining('one')])
  })

  it('draws a fork at which the head stands', () => {
    const lines = drawn([
      ...history(),
      event('und2', 'ans1', 'head', { to: idOf('ans1'), from: idOf('ans3'), reason: 'undo' }),
    ])
    expect(lines.filter((line) => line.includes('HEAD'))).toEqual([
      expect.stringContaining('◉ 616e7331 (HEAD)'),
    ])
    expect(lines.filter((line) => line.includes('undone'))).toHaveLength(2)
  })

  it('marks as undone neither what a redo came back to, nor what lies above an end', () => {
    const undoTwice = [
      ...history().slice(0, 7),
      event('und1', 'ans1', 'head', { to: idOf('ans1'), from: idOf('ans2'), reason: 'undo' }),
      event('und2', 'root', 'head', { to: idOf('root'), from: idOf('und1'), reason: 'undo' }),
    ]
    const marked = (events: readonly Event[]): number =>
      drawn(events).filter((line) => line.includes('undone')).length
    expect(marked(undoTwice)).toBe(1)
    const redo = event('red1', 'und1', 'head', { to: idOf('und1'), from: idOf('und2'), reason: 'redo' })
    const again = event('red2', 'ans2', 'head', { to: idOf('ans2'), from: idOf('red1'), reason: 'redo' })
    expect(marked([...undoTwice, redo, again])).toBe(0)
    const away = event('out1', 'root', 'head', { to: idOf('root'), from: idOf('red2'), reason: 'checkout' })
    expect(marked([...undoTwice, redo, again, away])).toBe(0)
  })

  it('says of a prompt without text that it has none', () => {
    minutes = 0
    const picture = [{ type: 'image', media: 'image/png', data: 'AAAA' }]
    const asked = event('ask1', 'root', 'message', { role: 'user', content: picture })
    expect(drawn([event('root', null, 'session'), asked])[1]).toContain('(no text)')
  })

  it('cannot be made to command a terminal', () => {
    const lines = drawn([event('root', null, 'session'), said('ask1', 'root', 'user', 'a\x1b]0;owned\x07b')])
    expect(lines.join('\n')).not.toMatch(/[\x1b\x07]/)
  })

  it('of forks within forks stays within the columns', () => {
    minutes = 0
    const events = [event('root', null, 'session')]
    const above = (i: number): string => (i === 0 ? 'root' : `tine${i - 1}`)
    for (let i = 0; i < 300; i++) events.push(said(`tine${i}`, above(i), 'user', `tine ${i}`))
    // The outermost were written last, so each inner one stands beside.
    for (let i = 299; i >= 0; i--) events.push(said(`back${i}`, above(i), 'user', `back ${i}`))
    const lines = drawn(events)
    expect(lines.some((line) => line.includes('too deep to draw'))).toBe(true)
    for (const line of lines) expect(widthOf(line)).toBeLessThanOrEqual(70)
  })

  it('of a long conversation needs no deep stack', () => {
    minutes = 0
    const events = [event('root', null, 'session')]
    for (let i = 0; i < 20_000; i++) events.push(said(`a${i}`, i === 0 ? 'root' : `a${i - 1}`, 'tool', 'x'))
    expect(drawn(events)).toHaveLength(3)
  })
})
