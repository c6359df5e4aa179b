import { padded, widthOf } from './width.js'

export interface Column {
  readonly head: string
  readonly align?: 'left' | 'right'
}

/** Rows under their heads, columns as wide as their widest cell; pure. Cells may be coloured, and stand on one line. */
export const drawTable = (
  columns: readonly Column[],
  rows: readonly (readonly string[])[],
  dim: (text: string) => string,
): readonly string[] => {
  const widths = columns.map(({ head }, i) =>
    rows.reduce((width, row) => Math.max(width, widthOf(row[i] ?? '')), widthOf(head)),
  )
  const line = (cells: readonly string[]): string =>
    columns
      .map(({ align = 'left' }, i) =>
        padded(cells[i] ?? '', widths[i] ?? 0, align === 'left' ? 'left' : 'right'),
      )
      .join('  ')
      .trimEnd()
  return [dim(line(columns.map(({ head }) => head))), ...rows.map(line)]
}
