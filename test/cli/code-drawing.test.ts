import colors from 'picocolors'
import { beforeAll, describe, expect, it } from 'vitest'
import type { FileDiff } from '../../src/checkpoints/diff.js'
import { drawDiff, drawStat } from '../../src/cli/draw-diff.js'
import { drawPlan, type PlanRow } from '../../src/cli/draw-plan.js'
import { everyScript, loadWidths, widthOf } from '../../src/cli/width.js'

const plain = colors.createColors(false)
const coloured = colors.createColors(true)
beforeAll(() => loadWidths(everyScript))

const row = (path: string, action: PlanRow['action'], why: string | null = null): PlanRow => ({
  path,
  action,
  why,
  outside: path.startsWith('/'),
})

describe('a plan', () => {
  it('stands in columns, reasons aligned, whatever the width of the names', () => {
    expect(
      drawPlan(
        [
          row('a.ts', 'change'),
          row('漢字.ts', 'conflict', 'changed since its last checkpoint'),
          row('/etc/hosts', 'change'),
          row('b\n.ts', 'keep', 'left'),
          row('same.ts', 'keep'),
          row('same2.ts', 'keep'),
        ],
        plain,
      ),
    ).toEqual([
      'change    a.ts',
      'conflict  漢字.ts     changed since its last checkpoint',
      'change    /etc/hosts  outside the workspace',
      'keep      b␊.ts       left',
      '2 tracked files stay as they are',
    ])
  })

  it('has its actions in colours, and nothing but colours is added', () => {
    const rows = [row('a', 'create'), row('b', 'delete'), row('c', 'conflict', 'why')]
    const lines = drawPlan(rows, coloured)
    expect(lines.every((line) => line.includes('\x1b['))).toBe(true)
    expect(lines.map((line) => line.replace(/\x1b\[[0-9;]*m/g, ''))).toEqual(drawPlan(rows, plain))
  })
})

describe('a diff on a terminal', () => {
  it('is coloured as git does it, and cannot command the terminal', () => {
    const text = 'diff --git a/a b/a\n--- a/a\n+++ b/a\n@@ -1,2 +1,2 @@\n one\x1b[2J\r\n-two\n+2\n--- x\n'
    const { bold, cyan, red, green } = coloured
    expect(drawDiff(text, coloured)).toEqual([
      bold('diff --git a/a b/a'),
      bold('--- a/a'),
      bold('+++ b/a'),
      cyan('@@ -1,2 +1,2 @@'),
      ' one␛[2J␍',
      red('-two'),
      green('+2'),
      red('--- x'),
    ])
  })
})

describe('a diff in numbers', () => {
  const diff = (path: string, added: number, removed: number): FileDiff => ({
    path,
    status: 'modified',
    isBinary: false,
    added,
    removed,
    text: '',
  })

  it('fits the terminal, and every change shows', () => {
    const diffs = [diff(`${'deep/'.repeat(30)}a.ts`, 900, 1), diff('b.ts', 1, 0), diff('漢字', 0, 0)]
    for (const columns of [40, 80, 200]) {
      const lines = drawStat(diffs, columns, plain)
      expect(lines.slice(0, -1).every((line) => widthOf(line) <= columns)).toBe(true)
      expect(lines[0]).toMatch(/a\.ts +\| 901 \++-$/)
      expect(lines[1]).toMatch(/b\.ts +\| {3}1 \+$/)
    }
    expect(drawStat(diffs, 80, plain).at(-1)).toBe(' 3 files changed, 901 insertions(+), 1 deletion(-)')
    expect(drawStat([], 80, plain)).toEqual([])
  })
})
