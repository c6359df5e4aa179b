import colors from 'picocolors'
import stringWidth from 'string-width'
import { beforeAll, describe, expect, it } from 'vitest'
import { age, duration, since } from '../../src/cli/age.js'
import { sessionTable } from '../../src/cli/commands/list.js'
import { drawTable } from '../../src/cli/draw-table.js'
import { bytes } from '../../src/cli/quantity.js'
import {
  clipped,
  clippedStart,
  everyScript,
  isSimple,
  loadWidths,
  padded,
  widthOf,
} from '../../src/cli/width.js'
import type { SessionRow } from '../../src/session/api.js'

describe('ages', () => {
  const now = Date.parse('2026-12-10T12:00:00.000Z')
  it.each([
    ['2026-12-10T11:59:30.000Z', 'now'],
    ['2026-12-10T11:00:01.000Z', '59 min'],
    ['2026-12-10T09:00:00.000Z', '3 h'],
    ['2026-12-08T09:00:00.000Z', '2 d'],
    ['2026-08-08T09:00:00.000Z', '4 mo'],
    ['2020-08-08T09:00:00.000Z', '6 y'],
    ['nonsense', '?'],
  ])('%s is %s', (at, said) => {
    expect(age(at, now)).toBe(said)
  })
  it('reads durations, and refuses what is none', () => {
    expect(duration('30d')).toBe(30 * 86_400_000)
    expect(duration('90m')).toBe(5_400_000)
    expect(() => duration('soon')).toThrow(/no age: soon/)
  })
  it('reads a time or an age as a time', () => {
    expect(since('2026-12-01', now)).toBe('2026-12-01T00:00:00.000Z')
    expect(since('1d', now)).toBe('2026-12-09T12:00:00.000Z')
    expect(() => since('yesterday-ish', now)).toThrow(/no time/)
  })
})

describe('sizes', () => {
  it.each([
    [0, '0 B'],
    [999, '999 B'],
    [1500, '1.5 kB'],
    [2_340_000, '2.3 MB'],
    [5_000_000_000, '5.0 GB'],
  ])('%d is %s', (count, said) => {
    expect(bytes(count)).toBe(said)
  })
})

describe('the table of sessions', () => {
  it('fits a terminal of 80 columns, and shows the end of a workspace', () => {
    const row = {
      session: 'ab'.repeat(16),
      title: 'A title that is far longer than there is room for',
      updatedAt: '2026-12-10T11:00:01.000Z',
      status: 'interrupted',
      events: 12_345,
      branches: 9,
      children: [],
      diverged: [],
      problem: null,
      workspace: '/home/mei/some/where/else/projects/teatimer',
    } as unknown as SessionRow
    const now = Date.parse('2026-12-10T12:00:00.000Z')
    const colours = colors.createColors(false)
    const lines = sessionTable([row], { all: true, now, columns: 80, colours })
    for (const line of lines) expect(widthOf(line)).toBeLessThanOrEqual(80)
    expect(lines[1]).toMatch(/ …\S*teatimer$/)
  })
})

describe('columns', () => {
  beforeAll(() => loadWidths(everyScript))

  it('of simple characters are one each, as the look-up says', () => {
    for (let code = 0; code <= 0xffff; code++) {
      const char = String.fromCharCode(code)
      if (isSimple(char)) expect(stringWidth(char), `U+${code.toString(16)}`).toBe(1)
    }
  })
  it('counts CJK as two and colour codes as none', () => {
    expect(widthOf('漢字')).toBe(4)
    expect(widthOf('\x1b[31mred\x1b[39m')).toBe(3)
  })
  it('never gives more columns than asked for', () => {
    for (let columns = 0; columns < 12; columns++)
      for (const text of ['plain text', '漢字漢字漢字', 'a漢b字c', ''])
        expect(widthOf(clipped(text, columns))).toBeLessThanOrEqual(columns)
  })
  it('keeps the end of a path, and never gives more columns than asked for', () => {
    expect(clippedStart('/home/mei/projects/teatimer', 12)).toBe('…ts/teatimer')
    for (let columns = 0; columns < 12; columns++)
      for (const text of ['plain text', '漢字漢字漢字', 'a漢b字c', ''])
        expect(widthOf(clippedStart(text, columns))).toBeLessThanOrEqual(columns)
  })
  it('leaves what fits', () => {
    expect(clipped('漢字', 4)).toBe('漢字')
    expect(clippedStart('漢字', 4)).toBe('漢字')
    expect(padded('漢', 4)).toBe('漢  ')
  })
  it('aligns a table by what is seen', () => {
    const lines = drawTable(
      [{ head: 'A' }, { head: 'N', align: 'right' }],
      [
        ['漢字', '1'],
        ['abc', '22'],
      ],
      String,
    )
    expect(lines).toEqual(['A      N', '漢字   1', 'abc   22'])
  })
})
