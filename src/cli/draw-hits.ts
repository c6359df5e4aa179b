import type { SearchHit } from '../session/api.js'
import { age } from './age.js'
import type { Colours } from './context.js'
import { short } from './names.js'
import { safeLine } from './safe-text.js'
import { clipped, clippedStart, padded, widthOf } from './width.js'

export interface HitDrawing {
  readonly columns: number
  readonly colours: Colours
  /** Milliseconds since 1970. */
  readonly now: number
}

/** The line above the hits of a session that come one after the other. */
export const sessionLine = (session: string, title: string, { columns, colours }: HitDrawing): string =>
  `${colours.yellow(short(session))}  ${colours.bold(clipped(safeLine(title), columns - 10))}`

/** The widest role, or type of what is no message. */
const roleColumns = 10
const ageColumns = 8
/** How much of the line goes before the hit, at most. */
const shareBefore = 0.4

/** One hit: the event, its age and role, and what stands around it, cut so that the hit is seen. Pure. */
export const hitLine = (hit: SearchHit, { columns, colours, now }: HitDrawing): string => {
  const about = [
    `  ${colours.yellow(short(hit.event))}`,
    colours.dim(padded(age(hit.at, now), ageColumns, 'right')),
    padded(safeLine(hit.role ?? hit.type), roleColumns),
  ].join('  ')
  return `${about}  ${around(hit, columns - widthOf(about) - 2, colours)}`
}

const around = ({ excerpt, match: [from, to] }: SearchHit, columns: number, colours: Colours): string => {
  const hit = clipped(safePart(excerpt.slice(from, to)), columns)
  const room = Math.max(0, columns - widthOf(hit))
  const before = clippedStart(safePart(excerpt.slice(0, from)), Math.floor(room * shareBefore))
  const after = clipped(safePart(excerpt.slice(to)), room - widthOf(before))
  return `${before}${colours.bold(colours.inverse(hit))}${after}`
}

/** A part of a line: its blanks at the ends are kept. */
const safePart = (text: string): string => {
  const [head = ''] = /^\s*/.exec(text) ?? []
  const line = safeLine(text)
  return line === '' ? head : `${head}${line}${/\s$/.test(text) ? ' ' : ''}`
}
