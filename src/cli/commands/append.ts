import * as E from 'fp-ts/lib/Either.js'
import { type Draft, decodeDraft } from '../../events/draft.js'
import { Tagged } from '../../events/errors/tagged.js'
import type { Event } from '../../events/event.js'
import type { Session } from '../../session/api.js'
import type { Context, Run } from '../context.js'
import { BadDraft } from '../errors/bad-draft.js'
import { type InputLine, jsonOfLine, linesOf } from '../lines.js'
import { withSession } from '../names.js'

/** What may wait for the disk at once; beyond it, reading stdin waits. */
const mostWaiting = 1000
const mostBytesWaiting = 16 << 20

/** A line beyond this many bytes may not fit the log even after its large values moved out. */
const largeLine = 1 << 20

/** Types that only the engine writes. */
const refused: ReadonlySet<string> = new Set(['session', 'head', 'recovered', 'redaction'])

/**
 * Appends each draft as its line arrives, without waiting for the one before: the session stamps them in order, and
 * those that wait while a sync is under way share the next. An id is printed once its event is on disk, in order (INV-2).
 */
export const run: Run = async (context, [name = ''], options) => {
  // Whoever reads the ids may leave; the drafts are stored all the same.
  context.out.keepGoing = true
  const notice = options.flag('notice')
  await withSession(context, name, (session) => appendAll(context, session, notice))
  return undefined
}

/** `notice`: a user message may bring a hidden one about the user's edits along; else only its checkpoint. */
const appendAll = async (context: Context, session: Session, notice: boolean): Promise<void> => {
  const acks = new Acks(context)
  try {
    for await (const line of linesOf(context.input)) {
      if (acks.failed) break
      const draft = draftOf(line)
      if (draft === undefined) continue
      acks.add(session.append(draft, { notice }), line)
      if (mayBeRefused(draft, line)) await acks.settled()
      if (acks.waiting > mostWaiting || acks.bytesWaiting > mostBytesWaiting) await acks.settled()
    }
  } catch (error) {
    // A failure of an earlier line comes first.
    await acks.settled()
    if (!acks.failed) throw error
  }
  await acks.settled()
  acks.throwFailure()
}

/**
 * What the session may still refuse must be written before the next draft is given to it, so that nothing after the
 * first bad draft is stored. A message without a parent, of a size that needs no look, is never refused.
 */
const mayBeRefused = (draft: Draft, line: InputLine): boolean =>
  draft.parent !== undefined ||
  !(draft.type === 'message' || draft.note === true) ||
  line.bytes.length > largeLine

const draftOf = (line: InputLine): Draft | undefined => {
  const json = jsonOfLine(line)
  if (json === undefined) return undefined
  if (typeof json === 'string') throw new BadDraft(line.number, json)
  const { type } = (json.value ?? {}) as { readonly type?: unknown }
  if (typeof type === 'string' && refused.has(type))
    throw new BadDraft(line.number, `append takes no ${type} event`)
  const draft = decodeDraft(json.value)
  if (E.isLeft(draft)) throw new BadDraft(line.number, draft.left.reasons.join('; '))
  return draft.right
}

/** Prints ids in the order of their drafts, each when its append resolves. */
class Acks {
  failed = false
  waiting = 0
  bytesWaiting = 0
  #failure: unknown
  #last: Promise<void> = Promise.resolve()

  constructor(private readonly context: Context) {}

  add(written: Promise<readonly Event[]>, line: InputLine): void {
    this.waiting++
    this.bytesWaiting += line.bytes.length
    const before = this.#last
    // Waited for in turn; until then a rejection must not count as unhandled.
    written.catch(() => {})
    this.#last = before.then(async () => {
      try {
        const events = await written
        if (!this.failed) await this.#print(events[events.length - 1])
      } catch (error) {
        this.#fail(error, line.number)
      }
      this.waiting--
      this.bytesWaiting -= line.bytes.length
    })
  }

  settled(): Promise<void> {
    return this.#last
  }

  throwFailure(): void {
    if (this.failed) throw this.#failure
  }

  async #print(event: Event | undefined): Promise<void> {
    if (event === undefined) return
    const { id, parent } = event
    const { json, out } = this.context
    await (json ? out.line(JSON.stringify({ id, parent })) : out.line(id))
  }

  /** The first failure counts: those queued behind it fail because of it. */
  #fail(error: unknown, line: number): void {
    if (this.failed) return
    this.failed = true
    this.#failure = isRefusal(error) ? new BadDraft(line, reasonOf(error), error) : error
    this.context.input.destroy()
  }
}

/** The draft's fault, not the store's. */
const isRefusal = (error: unknown): error is Tagged =>
  error instanceof Tagged &&
  (error.tag === 'InvalidDraft' ||
    (error.tag === 'NotFound' && (error as { kind?: unknown }).kind === 'event') ||
    (error.tag === 'Refused' && (error as { conflict?: unknown }).conflict !== true))

const reasonOf = ({ what, where }: Tagged): string =>
  [what.replace(/^not an event: /, ''), where].filter((part) => part !== '').join(': ')
