import type { Event, EventId } from '../../events/event.js'
import type { Branch, Shape } from '../write/branches.js'
import { Losses } from '../write/losses.js'
import { extraOf, isOwn } from '../write/own.js'
import { isSilent } from '../write/saying.js'
import type { Passage } from '../write/step.js'
import { passageOf } from '../write/steps.js'
import { format, isRecord, keyOf, type OwnRecords, versionOf } from './write-own.js'

/**
 * In ZettCode a checkpoint counts on every branch that holds the last message that it covers, and the one with the highest
 * number counts. Here it counts below itself alone. Where that is not the same, a branch is told in records of its own.
 */

export interface Planned {
  readonly branch: Branch
  readonly passage: Passage
  /** Compactions that other branches must not get: what they cover ends in a record that those do not hold. */
  readonly apart: ReadonlySet<EventId>
}

/** `last`: the last message of the file so far, for the branch that is to end there; null for others. */
export const planOf = (
  branch: Branch,
  shape: Shape,
  own: OwnRecords,
  losses: Losses,
  last: string | null,
): Planned => {
  const branches = [...shape.others, shape.current]
  const { path } = branch
  const apart = new Set(
    path.flatMap((event) =>
      event.type === 'compaction' && branches.some((other) => couldShare(branch, other, event))
        ? [event.id]
        : [],
    ),
  )
  const passage = (told: readonly Event[], hoists: boolean, counted: Losses): Passage =>
    passageOf(told, shape, { format, joins: true, hoists, losses: counted })
  const trial = (told: readonly Event[]): Passage => passage(told, false, new Losses())
  const endOf = ({ base }: Passage): string | null => own.messages.get(base?.id ?? '') ?? null
  const isAtEnd = last !== null && endOf(trial(path)) === last
  const isAsLeft = last === null && own.messages.has(branch.leaf)
  const standingPath = isAsLeft ? path : standing(path, own, isAtEnd)
  const plain = trial(standingPath)
  const told = retold(standingPath, plain)
  const hoists = needsHoisting(path, plain, apart) || endOf(plain) === null
  return { branch, passage: passage(told, hoists, losses), apart }
}

/**
 * Whether compactions are to stand right after what they cover: where they have to end in a record of their own, and
 * where nothing that stands in the file already would have to be told again for it.
 */
const needsHoisting = (path: readonly Event[], { steps }: Passage, apart: ReadonlySet<EventId>): boolean =>
  steps.some((step) => step.kind === 'compaction' && apart.has(step.event.id)) ||
  (path.some(isNew) && path.every((event, i) => !isNew(event) || isPlain(path, event, i)))

/** A checkpoint of the file's that comes after something new is new too, even where it is moved before that. */
const retold = (path: readonly Event[], { steps }: Passage): readonly Event[] => {
  const moved = new Set(steps.flatMap((step) => (step.kind === 'compaction' ? [step.event.id] : [])))
  return path.map((event) => (moved.has(event.id) ? withoutOrigin(event) : event))
}

const isNew = (event: Event): boolean => event.type === 'compaction' && !isOwn(event, format)

/** Whether another branch lacks a compaction, and may hold the record that stands for the last that it covers. */
const couldShare = ({ path }: Branch, { path: other }: Branch, { id, through }: Event): boolean => {
  if (other.some((event) => event.id === id)) return false
  const parting = path.findIndex((event, i) => other[i]?.id !== event.id)
  const end = path.findIndex((event) => event.id === through)
  const edited = new Set(path.map(({ target }) => target))
  return !path
    .slice(parting, end + 1)
    .some((event) => isSpoken(event) && !isSilent(event) && !edited.has(event.id))
}

/** Whether a record stands for it, wherever it is written. */
const isSpoken = ({ type, role }: Event): boolean =>
  type === 'message' && (role === 'user' || role === 'assistant')

/** Nothing between a compaction and what it covers stands in the file already. */
const isPlain = (path: readonly Event[], { through }: Event, i: number): boolean =>
  path.slice(path.findIndex(({ id }) => id === through) + 1, i).every((event) => !isOwn(event, format))

/** The path; `isAtEnd`: what is new follows the last message of the file. From where a checkpoint would count that is not on it, its own records are events like any other. */
const standing = (path: readonly Event[], own: OwnRecords, isAtEnd: boolean): readonly Event[] => {
  const keys = path.map((event) => (own.messages.has(event.id) ? keyOf(event) : ''))
  const onPath = own.events.filter(
    (event) =>
      event.type === 'compaction' && keys.some((key) => key === keyOf(event) || isCopyOf(key, event)),
  )
  const highest = Math.max(0, ...onPath.map(versionOf))
  const cuts = own.events.flatMap((event) => {
    // A record that stands twice says the same on every branch in ZettCode.
    if (event.type === 'edit')
      return isAtEnd && path.includes(event)
        ? []
        : path.flatMap(({ id }, i) => (id === event.target ? [i] : []))
    if (event.type !== 'compaction' || onPath.includes(event) || versionOf(event) < highest) return []
    const at = keys.indexOf(boundaryOf(event, own))
    return at === -1 ? [] : [at]
  })
  if (cuts.length === 0) return path
  const cut = Math.min(...cuts)
  return path.map((event, i) => (i < cut || !isRecord(event) ? event : withoutOrigin(event)))
}

const isCopyOf = (key: string, checkpoint: Event): boolean => key.startsWith(`${keyOf(checkpoint)}@`)

const withoutOrigin = ({ origin: _origin, ...event }: Event): Event => event

/** The key of the message that a checkpoint names as the last that it covers. */
const boundaryOf = (checkpoint: Event, { keys }: OwnRecords): string => {
  const parent = extraOf(checkpoint)?.parent
  return typeof parent === 'string' ? parent : (keys.get(String(checkpoint.through)) ?? '')
}
