import type { Event, EventId } from '../../events/event.js'
import { baseOf, type Tree } from '../../events/tree.js'
import type { Units } from '../write/step.js'
import type { OwnLine } from './write-own.js'

/** Lines of the source that the reader takes for one (tree.ts), in order. */
interface Unit {
  readonly message: string | null
  readonly lines: OwnLine[]
}

/**
 * The units of a session's own events. Whatever is put below an event, results and calls that stand later in its unit are
 * read before that; what says nothing does not count. `kept`: the lines that are written at all.
 */
export const ownUnits = (lines: readonly OwnLine[], kept: readonly OwnLine[], tree: Tree<Event>): Units => {
  const units = unitsOf(lines, tree)
  const written = new Set(kept)
  const idsOf = (some: readonly OwnLine[]): readonly EventId[] =>
    some.flatMap(({ events }) => events.map(({ id }) => id))
  return {
    of: ({ id }) => new Set([id, ...idsOf(units.get(id)?.lines ?? [])]),
    isEndedBy: ({ id }) => {
      const all = units.get(id)?.lines ?? []
      const at = all.findIndex(({ events }) => events.some((one) => one.id === id))
      const line = all[at]
      if (line === undefined) return true
      const isWhole = written.has(line) && line.events.at(-1)?.id === id
      return isWhole && !all.slice(at + 1).some((one) => written.has(one) && isSpoken(one))
    },
  }
}

const unitsOf = (lines: readonly OwnLine[], tree: Tree<Event>): ReadonlyMap<EventId, Unit> => {
  const units = new Map<EventId, Unit>()
  for (const line of lines) {
    const [first] = line.events
    const last = line.events.at(-1)
    if (first === undefined || last === undefined || !tree.nodes.has(first.id)) continue
    const above = unitAbove(units, tree, first)
    const message = last.role === 'assistant' && typeof last.group === 'string' ? last.group : null
    const isMore = !isTurn(line) || (message !== null && message === above?.message)
    const unit: Unit = isMore && above !== undefined ? above : { message, lines: [] }
    unit.lines.push(line)
    for (const { id } of line.events) units.set(id, unit)
  }
  return units
}

/** Events that the reader makes beside a line's own are in no unit. */
const unitAbove = (
  units: ReadonlyMap<EventId, Unit>,
  tree: Tree<Event>,
  { parent }: Event,
): Unit | undefined => {
  for (let at = parent; at !== null; ) {
    const id = baseOf(tree, at)
    const unit = units.get(id)
    if (unit !== undefined) return unit
    at = tree.nodes.get(id)?.parent ?? null
  }
  return undefined
}

const isSpoken = ({ events }: OwnLine): boolean =>
  events.some(({ type, content }) => type !== 'custom' || content !== undefined)

/** Not so: results, and what says nothing to the model. */
const isTurn = ({ events }: OwnLine): boolean =>
  events.every(({ type, role }) => type === 'compaction' || (type === 'message' && role !== 'tool'))
