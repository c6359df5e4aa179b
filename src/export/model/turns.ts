import type { Event, EventId } from '../../events/event.js'
import { isFileRecord } from '../../events/file-record.js'
import { callsOf, listOf, type Members, membersOf, recordOf, stringOf } from '../../projections/members.js'
import { emptyTally, type Tally, tallyUp } from '../../projections/usage-tally.js'

/** From one prompt to the next, on one branch. Times in ISO 8601. */
export interface Turn {
  /** Its first event that is shown. */
  readonly id: EventId
  readonly segment: number
  /** Counted along its own branch from 1; 0 for what comes before the first prompt. */
  readonly number: number
  readonly title: string
  /** Goes on with a turn of the branch that this one left. */
  readonly continues: boolean
  readonly startedAt: string
  endedAt: string
  /** Of the code: where it began, and what it ended with, where checkpoints were taken. */
  readonly before: EventId | null
  codeAt: EventId | null
  tally: Tally
  entries: number
  calls: number
  compactions: number
  undos: number
  errors: number
  readonly files: Set<string>
}

export const newTurn = (
  event: Event,
  at: Pick<Turn, 'segment' | 'number' | 'title' | 'continues'>,
): Turn => ({
  id: event.id,
  ...at,
  startedAt: event.at,
  endedAt: event.at,
  before: event.parent,
  codeAt: null,
  tally: emptyTally,
  entries: 0,
  calls: 0,
  compactions: 0,
  undos: 0,
  errors: 0,
  files: new Set(),
})

/** Counts one event into its turn. `event` may be thin. */
export const countIn = (turn: Turn, event: Event): void => {
  const members = membersOf(event)
  turn.tally = tallyUp(turn.tally, event, members)
  turn.entries++
  if (event.type === 'message' || event.type === 'compaction')
    if (event.at > turn.endedAt) turn.endedAt = event.at
  const count = counters[event.type]
  if (count !== undefined) count(turn, members, event)
}

type Counter = (turn: Turn, members: Members, event: Event) => void

const counters: Readonly<Record<string, Counter>> = {
  message: (turn, members) => {
    if (members.role === 'tool' && members.ok === false) turn.errors++
    if (members.role !== 'assistant') return
    const calls = callsOf(members)
    turn.calls += calls.length
  },
  compaction: (turn) => {
    turn.compactions++
  },
  head: (turn, members) => {
    if (members.reason === 'undo') turn.undos++
  },
  status: (turn, members) => {
    if (members.status === 'failed') turn.errors++
  },
  checkpoint: (turn, members, event) => {
    if (typeof members.commit !== 'string') return
    turn.codeAt = event.id
    if (members.reason === 'after-tool') for (const path of pathsOf(members.files)) turn.files.add(path)
  },
  restore: (turn, members, event) => {
    turn.codeAt = event.id
    for (const file of listOf(members.files)) {
      const path = stringOf(recordOf(file)?.path)
      if (path !== null) turn.files.add(path)
    }
  },
}

const pathsOf = (files: unknown): readonly string[] =>
  (Array.isArray(files) ? files : listOf(recordOf(files)?.files)).filter(isFileRecord).map(({ path }) => path)
