import { clipped, clippedStart, padded, widthOf } from './width.js'

export interface Column {
  readonly head: string
  readonly align?: 'left' | 'right'
  /** Cut so that the table fits, down to this many columns. Cells of such a column are not coloured. */
  readonly least?: number
  /** What is kept of a cell that is cut: its beginning, or its end. */
  readonly keep?: 'start' | 'end'
}

const gap = 2

/**
 * Rows under their heads, columns as wide as their widest cell; pure. Cells stand on one line. Where `room` is given
 * and the rows are wider, the columns with a `least` give way.
 */
export const drawTable = (
  columns: readonly Column[],
  rows: readonly (readonly string[])[],
  dim: (text: string) => string,
  room = Number.POSITIVE_INFINITY,
): readonly string[] => {
  const widths = fitted(columns, naturalWidths(columns, rows), room)
  const line = (cells: readonly string[]): string =>
    columns
      .map(({ align = 'left', keep = 'start' }, i) => {
        const width = widths[i] ?? 0
        const cut = keep === 'end' ? clippedStart : clipped
        return padded(cut(cells[i] ?? '', width), width, align)
      })
      .join(' '.repeat(gap))
      .trimEnd()
  return [dim(line(columns.map(({ head }) => head))), ...rows.map(line)]
}

const naturalWidths = (columns: readonly Column[], rows: readonly (readonly string[])[]): readonly number[] =>
  columns.map(({ head }, i) =>
    rows.reduce((width, row) => Math.max(width, widthOf(row[i] ?? '')), widthOf(head)),
  )

const fitted = (columns: readonly Column[], natural: readonly number[], room: number): readonly number[] => {
  const widths = [...natural]
  let excess = widths.reduce((sum, width) => sum + width, gap * (widths.length - 1)) - room
  for (const [i, { least }] of [...columns.entries()].reverse()) {
    const width = widths[i] ?? 0
    if (least === undefined || excess <= 0 || width <= least) continue
    widths[i] = Math.max(least, width - excess)
    excess -= width - (widths[i] ?? 0)
  }
  return widths
}
