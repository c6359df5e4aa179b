import type { Context } from './context.js'

export interface Progress {
  readonly at: (done: number, total: number, what?: string) => void
  readonly end: () => void
}

const silent: Progress = { at: () => {}, end: () => {} }
const everyMs = 100
const width = 24

/** One line on a terminal's stderr, drawn anew at most ten times a second, and wiped at the end. */
export const progress = (context: Context, verb: string): Progress => {
  if (context.quiet || !context.err.isTerminal) return silent
  let drawnAt = 0
  const draw = (text: string) => void context.err.write(`\r\x1b[2K${text}`)
  return {
    at: (done, total, what = '') => {
      const now = Date.now()
      if (now - drawnAt < everyMs) return
      drawnAt = now
      const full = total === 0 ? width : Math.min(width, Math.round((done / total) * width))
      const bar = '█'.repeat(full) + '░'.repeat(width - full)
      draw(`${verb} ${bar} ${done}/${total} ${what}`.slice(0, context.err.columns - 1))
    },
    end: () => {
      if (drawnAt > 0) draw('')
    },
  }
}

/** For work that is told in bytes. */
export const inMegabytes =
  ({ at }: Progress) =>
  (done: number, total: number): void => {
    const tenths = (count: number): number => Math.round(count / 1e5) / 10
    at(tenths(done), tenths(total), 'MB')
  }
