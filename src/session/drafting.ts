import * as E from 'fp-ts/lib/Either.js'
import { InStoredForm } from '../events/blob.js'
import { backward } from '../events/chain.js'
import type { BlobRef } from '../events/content.js'
import type { Draft } from '../events/draft.js'
import { NotFound, Refused } from '../events/errors/index.js'
import { advancesHead, type Event, type EventId } from '../events/event.js'
import { eventOf } from '../events/event-of.js'
import type { CodeState } from '../events/file-record.js'
import type { Line } from '../events/line.js'
import { noCode } from '../projections/code-state.js'
import { rowAt } from '../projections/session-index.js'
import { type Branch, nodesOf } from './branch.js'
import { loadCode } from './code/code-at.js'
import type { CodeDesk } from './code/code-desk.js'
import type { CheckpointCommand, Command } from './command.js'
import { withTokens } from './compacting.js'
import { advances, branchNeededBy, type Decidable, decide, leftByUndo, type SessionState } from './decide.js'
import { evolve } from './evolve.js'
import { loadBranch, loadRow } from './lookup.js'
import type { Sight } from './sight.js'
import type { Sealed, Stamp } from './stamp.js'

/** What a command comes to: lines to append, the events it stands for, and the state after it. */
export interface Drafted {
  readonly lines: readonly Line[]
  readonly events: readonly Event[]
  readonly blobs: ReadonlyMap<string, Buffer>
  readonly state: SessionState
}

/** Decides a command and makes its lines. Throws what refuses it; then nothing of it stays in sight. */
export const draft = async (
  command: Command,
  state: SessionState,
  sight: Sight,
  stamp: Stamp,
  code: CodeDesk,
): Promise<Drafted> => {
  const drafting = new Drafting(state, sight, stamp, code)
  try {
    for (const step of stepsOf(command)) await drafting.take(step)
    return drafting.drafted(state)
  } catch (error) {
    sight.remove(drafting.lines)
    throw error
  }
}

/** Drafts are decided one after the other: a later one may rest on an earlier one (a `tool` note on its call). */
const stepsOf = (command: Command): readonly Command[] =>
  command.do === 'append' && command.drafts.length > 1
    ? command.drafts.map((draft) => ({ ...command, drafts: [draft] }))
    : [command]

/** Where a step hangs, if it says so itself. */
const parentOf = (step: Command): EventId | undefined =>
  step.do === 'append' ? step.drafts[0]?.parent : undefined

/** Before what a user says the files are recorded, unless the caller names where it hangs: then nothing comes between. */
const isUserMessage = ({ type, role, visible, aside, parent }: Draft): boolean =>
  type === 'message' && role === 'user' && visible !== false && aside !== true && parent === undefined

export class Drafting {
  readonly lines: Line[] = []
  readonly events: Event[] = []
  readonly blobs = new Map<string, Buffer>()

  constructor(
    public state: SessionState,
    readonly sight: Sight,
    readonly stamp: Stamp,
    readonly code: CodeDesk,
  ) {}

  /** A command of which everything was there already leaves the position alone, unless the conversation ends there. */
  drafted(from: SessionState): Drafted {
    const { lines, events, blobs, state } = this
    const hasMoved = lines.length > 0 || Object.hasOwn(state.index.open, state.position)
    return { lines, events, blobs, state: hasMoved ? state : from }
  }

  async take(step: Command): Promise<void> {
    if (step.do === 'checkpoint') return this.#checkpoint(step)
    if (step.do === 'append' && step.drafts[0] !== undefined && isUserMessage(step.drafts[0]))
      await this.#checkpoint({ reason: 'prompt', notice: step.notice ?? true })
    for (const draft of await this.decided(step)) await this.write(draft)
  }

  /** What a command comes to, without writing it; nothing where the conversation stands there already. */
  async decided(step: Decidable): Promise<readonly Draft[]> {
    if (step.do === 'checkout' && (await this.#isThere(step.to))) return []
    const at = parentOf(step) ?? this.state.position
    await this.#mustBeNode(at)
    const branch = await this.#branchAt(at, step)
    if (branch !== null && at === this.state.position) this.state = { ...this.state, branch }
    const command = await this.#withFacts(step, at, branch)
    const decision = decide({ ...this.state, branch }, command)
    if (E.isLeft(decision)) throw decision.left
    return decision.right
  }

  async write(draft: Draft): Promise<void> {
    for (const one of await this.withHead(draft)) await this.#write(one)
  }

  /** Records the files as they are, where any are tracked; what that comes to is written where the session stands. */
  async #checkpoint({ reason, paths, toolCallId, notice, told }: CheckpointCommand): Promise<void> {
    const { tracking } = this.state.index
    const isWhole = tracking.track === 'workspace'
    if (reason === 'prompt' && told === undefined && !isWhole && !tracking.hasCode) return
    const known = await this.codeAt(this.state.position)
    const all = paths === undefined || (isWhole && paths.length === 0)
    const { drafts, taken } = await this.code.take({
      reason,
      known,
      notice: notice === true,
      scan: isWhole && all,
      ...(all ? {} : { paths }),
      ...(toolCallId === undefined ? {} : { toolCallId }),
    })
    for (const draft of drafts) await this.write(draft)
    told?.(taken)
  }

  /** The code state at an event: the one at the position is held from then on, and goes on with what is written. */
  async codeAt(id: EventId): Promise<CodeState> {
    const { index, position, code } = this.state
    if (!index.tracking.hasCode) return noCode
    if (code?.at === id) return code.state
    const state = await loadCode(this.sight.walk(id), (ref) => this.#blob(ref))
    if (id === position) this.state = { ...this.state, code: { at: id, state } }
    return state
  }

  async #blob(ref: BlobRef): Promise<Buffer> {
    return this.blobs.get(ref.$blob) ?? this.sight.log.blobs.get(this.sight.session, ref)
  }

  /** What a decision needs and the state does not hold. */
  async #withFacts(step: Decidable, at: EventId, branch: Branch | null): Promise<Decidable> {
    if (step.do === 'compact')
      return { ...step, compaction: await withTokens(this.sight, at, step.compaction) }
    const left = step.do === 'redo' && branch !== null ? leftByUndo(nodesOf(branch)) : null
    return left === null ? step : { do: 'redo', undone: await this.#baseOf(left) }
  }

  /** The nearest event at or above it that is no `head` event. */
  async #baseOf(id: EventId): Promise<EventId> {
    for await (const event of this.sight.walk(id)) if (event.type !== 'head') return event.id
    return id
  }

  /** Whether the conversation stands there: nothing but `head` events lies between. */
  async #isThere(to: EventId): Promise<boolean> {
    for await (const { id, type } of this.sight.walk(this.state.position)) {
      if (id === to) return true
      if (type !== 'head') return false
    }
    return false
  }

  async #branchAt(at: EventId, step: Command): Promise<Branch | null> {
    const needed = branchNeededBy(step)
    if (needed === null) return null
    const { branch, position } = this.state
    if (branch !== null && at === position && holds(branch, needed.must)) return branch
    const recent = await loadBranch(this.sight.walk(at), 'recent')
    return holds(recent, needed.must) ? recent : loadBranch(this.sight.walk(at), 'whole')
  }

  /** A draft, after the `head` event that it needs where it hangs on no open end (docs/FORMAT.md); rows filled in. */
  async withHead(draft: Draft): Promise<readonly Draft[]> {
    const { index, position } = this.state
    const parent = draft.parent ?? position
    if (draft.type === 'head') {
      await this.#mustBeNode(parent)
      return [{ ...draft, row: await this.#row(parent) }]
    }
    if (Object.hasOwn(index.open, parent)) return [draft]
    await this.#mustBeNode(parent)
    if (!advances(draft) || (await this.#isWritten(draft))) return [draft]
    // A race leaves the other's end open, to be seen (INV-7); a caller who names another parent leaves the head.
    const from = parent === position ? position : (index.head ?? position)
    const { parent: _parent, ...rest } = draft
    return [{ type: 'head', parent, to: parent, from, reason: 'branch', row: await this.#row(parent) }, rest]
  }

  async #write(draft: Draft): Promise<void> {
    const { line, blobs } = this.#seal(draft)
    for (const [name, bytes] of blobs) this.blobs.set(name, bytes)
    const written = draft.at === undefined ? null : await this.#written(line)
    const event = written ?? eventOf(line, this.sight.session)
    this.events.push(event)
    if (written === null) {
      this.lines.push(line)
      this.sight.add(event)
      this.state = evolve(this.state, event)
    } else if (advancesHead(written)) {
      this.state = { ...this.state, position: written.id, branch: null }
    }
  }

  #seal(draft: Draft): Sealed {
    return this.stamp.seal(draft, this.state.position, this.state.index.tailAt)
  }

  /** The same draft with the same time on the same parent is the same event: a retry finds what it wrote before. */
  async #written(line: Line): Promise<Event | null> {
    const { open, tailAt } = this.state.index
    // Nothing hangs on an open end yet but notes, so nothing need be read.
    const isNew = line.at > tailAt || (!line.note && Object.hasOwn(open, line.parent ?? ''))
    return isNew ? null : this.sight.written(line)
  }

  async #isWritten(draft: Draft): Promise<boolean> {
    return draft.at !== undefined && (await this.#written(this.#seal(draft).line)) !== null
  }

  /** Refuses an id that is no event, or a note, which nothing can hang on (INV-6). */
  async #mustBeNode(id: EventId): Promise<void> {
    const { index, position, branch } = this.state
    if (id === position || Object.hasOwn(index.open, id)) return
    if (branch !== null) for (const node of backward(branch.nodes)) if (node.id === id) return
    const kind = await this.sight.kindOf(id)
    const where = `session ${this.sight.session}`
    if (kind === null) throw new NotFound('event', id, where, 'see `coppice log SESSION`')
    if (kind.note)
      throw new Refused(`${id} is a ${kind.type} note`, where, 'name the event that it annotates')
  }

  /** In its stored form, as the folds that it comes from hold it. */
  async #row(at: EventId): Promise<InStoredForm> {
    const open = rowAt(this.state.index, at)
    return new InStoredForm(open ?? (await loadRow(this.sight.walk(at), this.#branchNameAt(at))))
  }

  /** The branch's name at an event above the position, where no other branch or move lies between. */
  #branchNameAt(at: EventId): string | null {
    const { index, position, branch } = this.state
    for (const { id, type } of branch === null ? [] : backward(branch.nodes)) {
      if (id === at) return rowAt(index, position)?.branch ?? null
      if (type === 'branch' || type === 'head') return null
    }
    return null
  }
}

const holds = (branch: Branch, must: EventId | null): boolean =>
  must === null || branch.isWhole || nodesOf(branch).some(({ id }) => id === must)
