import type { Event, EventId } from '../events/event.js'
import { statuses } from '../events/event.js'
import { tellsOfFiles } from './code-state.js'
import { countLeaves, type Leaves, nextLeaves, noLeaves } from './leaves.js'
import {
  type Members,
  membersOf,
  own,
  recordOf,
  type SessionPoint,
  sessionPointOf,
  stringOf,
} from './members.js'
import { advanceEnds, divergedEnds, type OpenEnds } from './open-ends.js'
import { nextProcesses, type RunningProcess } from './processes.js'
import type { Projection } from './projection.js'
import { emptyRow, nextRow, type Row } from './row.js'
import { type Naming, nextNaming, titleOf, unnamed } from './title.js'
import { emptyTally, type Tally, tallyUp, totalsOf } from './usage-tally.js'

export type SessionStatus = (typeof statuses)[number]

/** What a session's root says. Null where it does not (an imported root holds only what its source says). */
interface Birth {
  readonly session: EventId | null
  readonly workspace: string | null
  readonly cwd: string | null
  readonly createdAt: string
  readonly origin: { readonly format: string; readonly id: string } | null
  readonly forkedFrom: SessionPoint | null
  readonly startedBy: SessionPoint | null
}

/** What of the code the session tracks, and whether any event tells of files: without one nobody need look for it. */
export interface Tracking {
  readonly track: 'edits' | 'workspace'
  readonly hasCode: boolean
}

/** An end of the tree that nobody left on purpose, with the row there. */
export interface OpenEnd {
  readonly at: string
  readonly type: string
  readonly row: Row
}

/** The saved fold of a session: plain JSON that reads back deep-equal. `head`, `open`: docs/FORMAT.md. */
export interface SessionIndexState {
  readonly birth: Birth
  readonly naming: Naming
  readonly updatedAt: string
  readonly status: SessionStatus
  readonly reason: string | null
  readonly events: number
  readonly tally: Tally
  readonly processes: readonly RunningProcess[]
  readonly head: EventId | null
  readonly tail: EventId | null
  readonly tailAt: string
  readonly open: OpenEnds<OpenEnd>
  readonly leaves: Leaves
  readonly tracking: Tracking
}

const initial: SessionIndexState = {
  birth: {
    session: null,
    workspace: null,
    cwd: null,
    createdAt: '',
    origin: null,
    forkedFrom: null,
    startedBy: null,
  },
  naming: unnamed,
  updatedAt: '',
  status: 'pending',
  reason: null,
  events: 0,
  tally: emptyTally,
  processes: [],
  head: null,
  tail: null,
  tailAt: '',
  open: {},
  leaves: noLeaves,
  tracking: { track: 'edits', hasCode: false },
}

/** Notes that change no session's time: naming and redacting are not working on it. */
const timeless: ReadonlySet<string> = new Set(['title', 'label', 'redaction'])

const later = (a: string, b: string): string => (a > b ? a : b)

/** One literal with every member: a spread of the state for each step of it doubled what an event costs. */
const apply = (state: SessionIndexState, event: Event): SessionIndexState => {
  const members = membersOf(event)
  const isNote = event.note === true
  const status = statusAfter(state, event, members)
  return {
    birth: state.birth.session === null ? birthOf(event, members) : state.birth,
    naming: nextNaming(state.naming, event, members),
    updatedAt: timeless.has(event.type) ? state.updatedAt : later(event.at, state.updatedAt),
    status: status?.status ?? state.status,
    reason: status === null ? state.reason : status.reason,
    events: state.events + 1,
    tally: tallyUp(state.tally, event, members),
    processes: isNote && event.type === 'process' ? nextProcesses(state.processes, members) : state.processes,
    head: isNote ? state.head : event.id,
    tail: event.id,
    tailAt: later(event.at, state.tailAt),
    open: isNote ? state.open : openAfter(state, event, members),
    leaves: isNote ? state.leaves : nextLeaves(state.leaves, event),
    tracking: trackingAfter(state, event, members),
  }
}

const trackingAfter = ({ birth, tracking }: SessionIndexState, event: Event, members: Members): Tracking => {
  if (birth.session === null)
    return members.track === 'workspace' ? { ...tracking, track: 'workspace' } : tracking
  if (tracking.hasCode || !tellsOfFiles(event)) return tracking
  const hasFailed = event.type === 'checkpoint' && stringOf(members.commit) === null
  return hasFailed ? tracking : { ...tracking, hasCode: true }
}

/** Null: it stays. */
const statusAfter = (
  state: SessionIndexState,
  event: Event,
  members: Members,
): Pick<SessionIndexState, 'status' | 'reason'> | null => {
  if (event.note !== true)
    return isAnswered(state, event, members) ? { status: 'completed', reason: null } : null
  const status = event.type === 'status' ? statuses.find((name) => name === members.status) : undefined
  return status === undefined ? null : { status, reason: stringOf(members.reason) }
}

const openAfter = ({ open }: SessionIndexState, event: Event, members: Members): OpenEnds<OpenEnd> => {
  const above = event.parent === null ? undefined : own(open, event.parent)
  const row = nextRow(above?.row ?? emptyRow, event)
  return advanceEnds(open, event, members, { at: event.at, type: event.type, row })
}

/** Taking back the prompt takes back the question that it led to. */
const isAnswered = ({ status }: SessionIndexState, event: Event, members: Members): boolean =>
  event.type === 'head' &&
  members.reason === 'undo' &&
  (status === 'ask_permission' || status === 'waiting_for_user')

const birthOf = (event: Event, members: Members): Birth => {
  const origin = recordOf(members.origin)
  const format = stringOf(origin?.format)
  const id = stringOf(origin?.id)
  return {
    session: event.id,
    workspace: stringOf(members.workspace),
    cwd: stringOf(members.cwd),
    createdAt: event.at,
    origin: format === null || id === null ? null : { format, id },
    forkedFrom: sessionPointOf(members.forkedFrom),
    startedBy: sessionPointOf(members.startedBy),
  }
}

/** The branch-dependent members at an open end; null where there is no such end (fold its path with `rowOf`). */
export const rowAt = (state: SessionIndexState, id: EventId): Row | null => own(state.open, id)?.row ?? null

/** An end that another writer made, unseen by the one at the head. */
export interface Divergence {
  readonly branch: string
  readonly leaf: EventId
  readonly at: string
}

/**
 * One line of the list of sessions. Times in ISO 8601, usage in tokens over all branches; texts are in their stored
 * form (`joinText` after resolving). `titleBy` is null where the title comes from the first prompt; where that lies in
 * a blob the title reads `[text]`, and `firstPrompt` is what to resolve for `titleFrom`.
 */
export interface SessionRow
  extends Omit<Birth, 'session'>,
    Pick<
      SessionIndexState,
      'updatedAt' | 'status' | 'reason' | 'events' | 'processes' | 'head' | 'tail' | 'tailAt'
    > {
  readonly session: EventId
  readonly title: string
  readonly titleBy: 'user' | 'auto' | 'import' | null
  readonly firstPrompt: Naming['firstPrompt']
  readonly branches: number
  readonly diverged: readonly Divergence[]
  readonly usage: Pick<Tally, 'total' | 'models' | 'requests'>
  readonly activeTokens: number
  readonly lastAssistant: Row['lastAssistant']
  readonly lastReasoning: Row['lastReasoning']
  readonly lastRefusal: Row['lastRefusal']
  readonly lastTool: Row['lastTool']
}

const view = (state: SessionIndexState): SessionRow => {
  const { birth, naming, updatedAt, status, reason, events, processes, head, tail, tailAt } = state
  const { lastAssistant, lastReasoning, lastRefusal, lastTool, activeTokens } =
    (head === null ? null : rowAt(state, head)) ?? emptyRow
  // Member by member: V8 adds to what begins with a spread by far the slowest way, 15 µs a row.
  return {
    session: birth.session ?? '',
    workspace: birth.workspace,
    cwd: birth.cwd,
    createdAt: birth.createdAt,
    origin: birth.origin,
    forkedFrom: birth.forkedFrom,
    startedBy: birth.startedBy,
    title: titleOf(naming),
    titleBy: naming.given?.by ?? null,
    firstPrompt: naming.given === null ? naming.firstPrompt : null,
    updatedAt,
    status,
    reason,
    events,
    branches: countLeaves(state.leaves),
    diverged: divergedEnds(state.open, head).map(([leaf, { at, row }]) => ({ branch: row.branch, leaf, at })),
    usage: totalsOf(state.tally),
    activeTokens,
    lastAssistant,
    lastReasoning,
    lastRefusal,
    lastTool,
    processes,
    head,
    tail,
    tailAt,
  }
}

/** The row of one session in the list, and the fold that is saved for it. */
export const sessionIndex: Projection<SessionIndexState, SessionRow> = {
  name: 'sessionIndex',
  version: 2,
  scope: 'session',
  initial,
  apply,
  view,
}
