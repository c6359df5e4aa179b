import * as E from 'fp-ts/lib/Either.js'
import type { NonEmptyArray } from 'fp-ts/lib/NonEmptyArray.js'
import { InStoredForm } from '../events/blob.js'
import type { Draft } from '../events/draft.js'
import { Refused } from '../events/errors/index.js'
import { type EventId, noteTypes } from '../events/event.js'
import type { SessionIndexState } from '../projections/session-index.js'
import { type Branch, type BranchNode, callerOf, cutOf, firstOpenCall, nodesOf } from './branch.js'
import type { CodeAt } from './code/code-at.js'
import type { Command, CompactionDraft } from './command.js'
import { keptOf } from './keep.js'

/** What a decision rests on. */
export interface SessionState {
  readonly index: SessionIndexState
  /** Where the next event hangs. */
  readonly position: EventId
  /** Loaded where a command needs it; null until then. */
  readonly branch: Branch | null
  /** The code state at some event, which the position mostly is; null until someone asks for it. */
  readonly code: CodeAt | null
}

export type Decision = E.Either<Refused, NonEmptyArray<Draft>>

/** Whether a command can only be decided with the branch at hand: back to its last compaction, or to `must` above it. */
export const branchNeededBy = (command: Command): { readonly must: EventId | null } | null => {
  switch (command.do) {
    case 'append':
      return command.drafts.some(needsBranch) ? { must: null } : null
    case 'undo':
    case 'edit':
      return { must: command.target }
    case 'redo':
    case 'compact':
      return { must: null }
    default:
      return null
  }
}

const needsBranch = (draft: Draft): boolean =>
  draft.type === 'compaction' || (draft.type === 'tool' && draft.parent === undefined)

/** Commands that are decided on the state alone: what a checkpoint comes to, the files say. */
export type Decidable = Exclude<Command, { readonly do: 'checkpoint' }>

/** What a command comes to, as drafts in order; or why not. A `head` draft comes without its `row`, which the shell adds. */
export const decide = (state: SessionState, command: Decidable): Decision => {
  switch (command.do) {
    case 'append':
      return append(state, command.drafts)
    case 'undo':
      return undo(state, command.target)
    case 'redo':
      return redo(state, command.undone)
    case 'checkout':
      return E.right([head(state, command.to, 'checkout')])
    case 'branch':
      return branch(state, command.name, command.at)
    case 'title':
      return title(state, command.title, command.by)
    case 'label':
      return E.right([
        { type: 'label', note: true, parent: command.target, target: command.target, label: command.label },
      ])
    case 'compact':
      return compact(state, command.compaction)
    case 'edit':
      return edit(state, command.target, command.replacement)
  }
}

const refuse = (reason: string, hint: string, isConflict = false): E.Either<Refused, never> =>
  E.left(new Refused(reason, '', hint, isConflict))

const nodesIn = ({ branch: held }: SessionState): readonly BranchNode[] =>
  held === null ? [] : nodesOf(held)

const append = (state: SessionState, drafts: readonly Draft[]): Decision => {
  const nodes = nodesIn(state)
  const ready: Draft[] = []
  for (const draft of drafts) {
    const checked = draft.type === 'compaction' ? checkCompaction(nodes, draft) : E.right(draft)
    if (E.isLeft(checked)) return checked
    ready.push(hang(nodes, checked.right))
  }
  const [first, ...rest] = ready
  return first === undefined
    ? refuse('nothing to append', 'give at least one event')
    : E.right([first, ...rest])
}

/** A `tool` note hangs on the message that made the call, before the side effect; a `label` on what it names. */
const hang = (nodes: readonly BranchNode[], draft: Draft): Draft => {
  if (draft.parent !== undefined) return draft
  if (draft.type === 'label') return { ...draft, parent: draft.target as EventId }
  if (draft.type !== 'tool') return draft
  const caller = callerOf(nodes, draft.toolCallId as string)
  return caller === undefined ? draft : { ...draft, parent: caller.id }
}

const head = (
  { position }: SessionState,
  to: EventId,
  reason: 'undo' | 'redo' | 'checkout' | 'branch',
): Draft => ({ type: 'head', parent: to, to, from: position, reason })

const undo = (state: SessionState, target: EventId): Decision => {
  const node = nodesIn(state).find(({ id }) => id === target)
  if (node === undefined)
    return refuse(`${target} is not on this branch`, 'list the targets with `coppice undo SESSION`')
  if (!node.isPrompt || node.parent === null)
    return refuse(`${target} is no user message`, 'list the targets with `coppice undo SESSION`')
  return E.right([head(state, node.parent, 'undo')])
}

/** The undo that a redo would take back: from the position upward past events that change no context (as redoTargets does). */
export const undoToRedo = (state: SessionState): BranchNode | null => {
  const byId = new Map(nodesIn(state).map((node) => [node.id, node]))
  let at = byId.get(state.position)
  while (at !== undefined && at.parent !== null && (at.isNeutral || at.reason === 'redo'))
    at = byId.get(at.parent)
  return at?.reason === 'undo' && at.from !== null ? at : null
}

const redo = (state: SessionState, leaf: EventId | undefined): Decision => {
  const undo = undoToRedo(state)
  if (undo !== null) return E.right([head(state, undo.from as EventId, 'redo')])
  const undone = leaf ?? leftByUndo(nodesIn(state))
  return undone === null
    ? refuse('nothing to redo', 'only an undo can be redone', true)
    : refuse(
        'nothing to redo: the conversation went on since the undo',
        `go back to what was undone with \`coppice checkout SESSION ${undone}\``,
        true,
      )
}

/** The end that the newest undo on the branch left; null where there was none. */
export const leftByUndo = (nodes: readonly BranchNode[]): EventId | null =>
  nodes.findLast(({ reason }) => reason === 'undo')?.from ?? null

const branch = (state: SessionState, name: string, at: EventId | undefined): Decision => {
  const begin: Draft = { type: 'branch', name }
  return at === undefined || at === state.position
    ? E.right([begin])
    : E.right([head(state, at, 'branch'), begin])
}

const title = ({ index }: SessionState, name: string, by: 'user' | 'auto' | 'import'): Decision => {
  const given = index.naming.given?.by
  const isKept =
    (by === 'auto' && (given === 'user' || given === 'import')) || (by === 'import' && given === 'user')
  if (isKept) return refuse(`the title given by ${given} stays`, 'rename it as the user')
  return E.right([{ type: 'title', note: true, title: name, by }])
}

/** `keep`: what lasts of all at or above `through`; what comes after that stays in the context by itself. */
const compact = (state: SessionState, draft: CompactionDraft): Decision => {
  const nodes = nodesIn(state)
  const through = draft.through ?? defaultThrough(nodes)
  if (through === null)
    return refuse('nothing to compact', 'the branch holds nothing that a compaction could cover yet')
  const below = new Set(nodes.slice(nodes.findIndex(({ id }) => id === through) + 1).map(({ id }) => id))
  const keep = keptOf(nodes.flatMap(({ lasting }) => lasting ?? [])).filter(({ id }) => !below.has(id))
  const compaction: Draft = { ...draft, type: 'compaction', through, keep: new InStoredForm(keep) }
  const checked = checkCompaction(nodes, compaction)
  return E.isLeft(checked) ? checked : E.right([checked.right])
}

/** Everything, or everything before the first call that still waits for its result. */
const defaultThrough = (nodes: readonly BranchNode[]): EventId | null => {
  const cut = cutOf(nodes)
  const open = firstOpenCall(nodes, cut + 1, nodes.length - 1)
  const last = open < 0 ? nodes.length - 1 : open - 1
  return last <= cut || last < 0 ? null : (nodes[last]?.id ?? null)
}

/** The rules of `through` (docs/FORMAT.md): on the path, not above an earlier one's, no open call at or before it. */
const checkCompaction = (nodes: readonly BranchNode[], draft: Draft): E.Either<Refused, Draft> => {
  const through = draft.through
  const at = nodes.findIndex(({ id }) => id === through)
  if (at < 0)
    return refuse(
      `through ${String(through)} is not on this branch below the last compaction's`,
      'name an event of the branch, or leave `through` out',
    )
  const cut = cutOf(nodes)
  if (at < cut)
    return refuse(
      `through ${String(through)} lies above what an earlier compaction covers`,
      'name a later event',
    )
  const open = firstOpenCall(nodes, cut + 1, at)
  if (open >= 0)
    return refuse(
      `a call of ${nodes[open]?.id} is still without its result`,
      'name an event before it, wait for the result, or append a failed one',
    )
  return E.right(draft)
}

const edit = (state: SessionState, target: EventId, replacement: unknown): Decision => {
  const node = nodesIn(state).find(({ id }) => id === target)
  if (node === undefined) return refuse(`${target} is not on this branch`, 'see `coppice log SESSION --at @`')
  if (node.type !== 'message' && node.type !== 'custom')
    return refuse(`${target} is a ${node.type}, not a message`, 'edit a message')
  return E.right([{ type: 'edit', target, replacement }])
}

/** Whether a draft will advance the head. */
export const advances = (draft: Draft): boolean => draft.note !== true && !noteTypes.has(draft.type)
