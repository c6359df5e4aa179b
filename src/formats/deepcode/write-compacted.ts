import type { Event } from '../../events/event.js'
import { isObject } from '../remainder.js'
import { uuid4 } from '../write/ids.js'
import { isOwn } from '../write/own.js'
import { saidMessage } from './message.js'
import { type Drafted, hiddenIn, type Line, type Summary } from './write-lines.js'
import { coveredBy, format, keyOf, lineBefore } from './write-own.js'

/** Puts each summary after what it covers, and marks that as compacted, as Deep Code does in place. */
export const placed = ({ lines, summaries }: Drafted, path: readonly Event[]): readonly Line[] => {
  const file = [...lines]
  const hidden = hiddenIn(path)
  for (const line of file)
    if (line.own !== null && hidden.has(line.own.id)) line.compacted = { updateTime: hidden.get(line.own.id) }
  for (const summary of summaries)
    if (isOwn(summary.event, format)) placeOwn(file, summary)
    else placeNew(file, summary)
  const [root] = path
  return file.length > 0 || root === undefined ? withCovered(file) : [standIn(root, 0)]
}

const placeOwn = (file: Line[], { event, line }: Summary): void => {
  const covered = coveredBy(event)
  let last = -1
  for (const [i, one] of file.entries()) {
    const key = one.events.map(keyOf).find((id) => covered.has(id))
    if (key === undefined) continue
    one.compacted ??= { updateTime: covered.get(key) }
    last = i
  }
  const before = lineBefore(event)
  const after = before === null ? -1 : file.findLastIndex(({ id }) => id === before)
  file.splice((after === -1 ? last : after) + 1, 0, line)
}

const placeNew = (file: Line[], { event, line, pinned }: Summary): void => {
  const isKept = keeps(event)
  for (const one of file)
    if (isCovered(one, line.place) && !isKept(one)) one.compacted ??= { updateTime: event.at }
  const end = file.findLastIndex(({ place }) => place <= line.place) + 1
  file.splice(end, 0, line, ...pinned)
}

/** The newest summary stands for those before it too, wherever they are. */
const isCovered = ({ kind, place }: Line, through: number): boolean =>
  kind === 'summary' || (kind !== 'other' && place <= through)

/** System messages stay for the model where a compaction names them, or names none at all. */
const keeps = ({ keep }: Event): ((line: Line) => boolean) => {
  const named = Array.isArray(keep)
    ? new Set((keep as unknown[]).map((one) => (isObject(one) ? one.id : undefined)))
    : null
  return ({ role, kind, events }) =>
    role === 'system' && (named === null ? kind === 'message' : events.some(({ id }) => named.has(id)))
}

/** A summary of nothing would be none: where nothing that it covers is written, a line stands for it. */
const withCovered = (file: readonly Line[]): readonly Line[] => {
  let covers = false
  return file.flatMap((line) => {
    if (line.kind === 'message') covers ||= line.compacted !== null
    if (line.kind !== 'summary') return [line]
    const [event] = line.events
    const isBare = !covers && line.own === null && event !== undefined
    covers = false
    return isBare ? [standIn(event, line.place), line] : [line]
  })
}

/** A message that nobody gets: for what a compaction covers, and in a file that were empty without it, and no session. */
const standIn = ({ id: event, at }: Event, place: number): Line => {
  const id = uuid4(`${event}#covered`)
  return {
    id,
    events: [],
    place,
    role: 'user',
    kind: 'message',
    compacted: { updateTime: at },
    own: null,
    record: async (session) =>
      saidMessage({ role: 'user', content: '', visible: false }, { key: id, session, at }, at),
  }
}
