import { RestoreFailed } from '../../checkpoints/errors/restore-failed.js'
import type { Choice, Plan, PlanEntry } from '../../checkpoints/plan-entry.js'
import { restoredFiles } from '../../checkpoints/wanted.js'
import type { Draft } from '../../events/draft.js'
import { Refused, StaleTail } from '../../events/errors/index.js'
import { type Event, type EventId, is } from '../../events/event.js'
import type { CodeState } from '../../events/file-record.js'
import type { MoveOptions } from '../api.js'
import { type Decidable, type SessionState, undoToRedo } from '../decide.js'
import type { Hold } from '../open-session.js'
import { done } from './done.js'
import type { WorkspaceCode } from './workspace-code.js'

/** What moves the conversation, and may take the code along. */
export type Move = Extract<Decidable, { readonly do: 'undo' | 'redo' | 'checkout' }>

/** Where a move came to, or would: the nearest event there that is no `head` event, and what it did with each tracked file. */
export interface Moved {
  readonly head: EventId
  readonly entries: readonly PlanEntry[]
}

type What = NonNullable<MoveOptions['what']>

/** A move, decided: the code states at both ends, or that none goes. */
interface Decided {
  /** The `head` event to be; null where the conversation stays. */
  readonly head: Draft | null
  readonly to: EventId
  /** The nearest event at or above `to` that is no `head` event: looked for before anything moves. */
  readonly base: EventId
  readonly code: { readonly current: CodeState; readonly target: CodeState } | null
}

/** How often another writer of the session may come first before a restore gives up. */
const mostTries = 20

/**
 * Moves the conversation, the code, or both (docs/CHECKPOINTS.md). The conversation moves by the event that says the code
 * is back, so both do or neither. Rejects with RestoreConflict or RestoreFailed: then nothing has moved.
 */
export const move = async (
  hold: Hold,
  code: () => Promise<WorkspaceCode>,
  command: Move,
  options: MoveOptions,
): Promise<Moved> => {
  await settled(hold, code)
  for (let tries = 0; ; tries++) {
    const decided = await decide(hold, command, options)
    if (decided.code === null) return conversationAlone(hold, command, decided.base)
    try {
      return await restoring(hold, await code(), { ...decided, code: decided.code }, options)
    } catch (error) {
      // Nothing was touched yet: it is decided again on what the other one wrote.
      if (!(error instanceof StaleTail) || tries === mostTries) throw error
    }
  }
}

/** What `move` would do. Changes nothing. */
export const planMove = async (
  hold: Hold,
  code: () => Promise<WorkspaceCode>,
  command: Move,
  options: MoveOptions,
): Promise<Moved> => {
  await settled(hold, code)
  const decided = await decide(hold, command, options)
  if (decided.code === null) return { head: decided.base, entries: [] }
  const workspace = await code()
  workspace.mustHaveFiles()
  const { entries } = await done(
    workspace.checkpoints.preview({ ...decided.code, choice: choiceOf(options) }),
  )
  const stays = decided.head === null
  return { head: stays ? await baseOf(hold, hold.log.state.position) : decided.base, entries }
}

const baseOf = async (hold: Hold, at: EventId): Promise<EventId> => {
  for await (const { id, type } of hold.log.sight.walk(at)) if (type !== 'head') return id
  return at
}

const choiceOf = ({ onConflict, outside }: MoveOptions): Choice => ({
  ...(onConflict === 'force' ? { force: true } : {}),
  ...(onConflict === 'keep' ? { keep: true } : {}),
  ...(outside === true ? { outside: true } : {}),
})

/** Ends what a crash cut off, so that what is decided rests on files that are one or the other. */
const settled = async (hold: Hold, code: () => Promise<WorkspaceCode>): Promise<void> => {
  if (!hold.log.state.index.tracking.hasCode) return
  const ended = await (await code()).settle()
  if (ended.length > 0) await hold.log.reloadAfter(ended)
}

const conversationAlone = async (hold: Hold, command: Move, base: EventId): Promise<Moved> => {
  await hold.run(command)
  return { head: base, entries: [] }
}

const decide = async (hold: Hold, command: Move, options: MoveOptions): Promise<Decided> => {
  const drafting = hold.log.drafting()
  const [head = null] = await drafting.decided(command)
  const { position } = hold.log.state
  const to = head === null ? (command.do === 'checkout' ? command.to : position) : (head.to as EventId)
  const base = await baseOf(hold, to)
  const what = whatOf(hold, drafting.state, command, options)
  if (what === 'conversation') return { head, to, base, code: null }
  const [current, target] = [await drafting.codeAt(position), await drafting.codeAt(to)]
  const isTracked = current.files.size + target.files.size > 0
  if (what === 'code' && !isTracked)
    throw new Refused(
      'no code is tracked there or here',
      `session ${hold.log.id}`,
      'move the conversation alone',
    )
  const moves = what === 'code' ? null : head
  const [ready = null] = moves === null ? [] : await drafting.withHead(moves)
  return { head: ready, to, base, code: isTracked ? { current, target } : null }
}

/** A redo takes the code along where the undo did. */
const whatOf = (hold: Hold, state: SessionState, command: Move, { what }: MoveOptions): What => {
  if (command.do === 'redo') return undoToRedo(state)?.movesCode === true ? 'both' : 'conversation'
  const wanted = what ?? (command.do === 'undo' ? 'both' : 'conversation')
  return wanted === 'both' && !hold.log.state.index.tracking.hasCode ? 'conversation' : wanted
}

const restoring = async (
  hold: Hold,
  workspace: WorkspaceCode,
  { head, base, code: { current, target } }: Decided & { readonly code: NonNullable<Decided['code']> },
  options: MoveOptions,
): Promise<Moved> => {
  workspace.mustHaveFiles()
  const recorded: { entries: readonly PlanEntry[]; event: EventId }[] = []
  const task = workspace.checkpoints.restore({
    session: hold.log.id,
    current,
    target,
    choice: choiceOf(options),
    secured: async (safety) => {
      const written = await tryOnce(hold, { type: 'checkpoint', ...safety })
      return (written.findLast((one) => is(one, 'checkpoint')) as Event).id
    },
    event: async (plan, safety) => {
      const line = await hold.log.seal(await eventOf(hold, head, plan, target, safety))
      recorded.push({ entries: plan.entries, event: line.id })
      return { event: line.id, line: line.bytes.toString(), append: () => hold.log.put(line) }
    },
  })
  try {
    await done(task)
  } catch (error) {
    if (!(await isFinished(hold, workspace, error, recorded[0]?.event))) throw error
  }
  // The event of a restore of the code alone is where the conversation stands now.
  return { head: head === null ? hold.log.state.position : base, entries: recorded[0]?.entries ?? [] }
}

/** The `head` event that moves both, or the `restore` event at the position. */
const eventOf = async (
  hold: Hold,
  head: Draft | null,
  plan: Plan,
  target: CodeState,
  safety: EventId | null,
): Promise<Draft> => {
  const files = restoredFiles(plan, target, head === null ? 'restore' : 'head')
  const restore = { checkpoint: target.checkpoint, safety, files }
  if (head !== null) return { ...head, from: hold.log.state.position, restore }
  const [first, rest] = await hold.log.drafting().withHead({ type: 'restore', ...restore })
  if (first === undefined || rest === undefined) return { type: 'restore', ...restore }
  // It must hang on an open end, and its journal holds one line alone: what goes there comes before it.
  if (!(await hold.log.put(await hold.log.seal(first))))
    throw new RestoreFailed('it could not be recorded', `session ${hold.log.id}`, true)
  return rest
}

const tryOnce = async (hold: Hold, draft: Draft): Promise<readonly Event[]> => {
  const written = await hold.tryOnce({ do: 'append', drafts: [draft] })
  if (written === null) throw new StaleTail(hold.log.id, null, null)
  return written
}

/** A restore of which it was not clear whether it was recorded may be ended at once, and is done then. */
const isFinished = async (
  hold: Hold,
  workspace: WorkspaceCode,
  error: unknown,
  event: EventId | undefined,
): Promise<boolean> => {
  if (!(error instanceof RestoreFailed) || error.rolledBack || event === undefined) return false
  const ended: readonly EventId[] = await workspace.settle().catch(() => [])
  await hold.log.reloadAfter(ended)
  return ended.includes(event)
}
