import type { Event, EventId } from '../../events/event.js'
import { isObject, type Json } from '../../formats/remainder.js'
import type { Outgoing } from '../../formats/writer.js'
import { membersOf } from '../../projections/members.js'
import { nextNaming, unnamed } from '../../projections/title.js'
import type { ReadView, SessionReader, Store } from '../../session/api.js'

/** Takes secrets out of a value; gives it back as it is where there are none. */
export type Cleaning = <T>(value: T) => Promise<T>

export interface OutgoingOptions {
  readonly view: ReadView
  /** Only the branch to this event. */
  readonly only: EventId | null
  /** null: secrets stay in. */
  readonly clean: Cleaning | null
}

/** A session as writers of other formats take it, with those that it started. */
export const outgoingOf = async (
  store: Store,
  reader: SessionReader,
  options: OutgoingOptions,
): Promise<Outgoing> => {
  const rows = await store.list({ sub: true })
  const children = new Map(rows.map((row) => [row.session, row.children]))
  return familyOf(store, reader, options, children)
}

const familyOf = async (
  store: Store,
  reader: SessionReader,
  { view, only, clean }: OutgoingOptions,
  children: ReadonlyMap<EventId, readonly EventId[]>,
): Promise<Outgoing> => {
  const events = await reader.events(view)
  const resolve = async <T>(value: T): Promise<T> => {
    const resolved = await reader.resolved(value, view)
    return clean === null ? resolved : withoutSecrets(resolved, clean)
  }
  const started = only === null ? (children.get(reader.id) ?? []) : []
  return {
    id: reader.id,
    events,
    resolve,
    head: only ?? headOf(events, reader.id),
    ...(only === null ? {} : { only: true }),
    title: titleGiven(events),
    workspace: reader.workspace,
    cwd: cwdOf(events) ?? reader.workspace,
    children: await Promise.all(
      started.map(async (id) =>
        familyOf(store, await store.reader(id), { view, only: null, clean }, children),
      ),
    ),
  }
}

const headOf = (events: readonly Event[], root: EventId): EventId =>
  events.findLast(({ note }) => note !== true)?.id ?? root

/** The title that someone gave; null: it is called after its first prompt. */
const titleGiven = (events: readonly Event[]): string | null =>
  events
    .filter(({ type }) => type === 'title')
    .reduce((naming, event) => nextNaming(naming, event, membersOf(event)), unnamed).given?.title ?? null

const cwdOf = ([root]: readonly Event[]): string | null => (typeof root?.cwd === 'string' ? root.cwd : null)

/** Members by which a provider proves what stands beside them. */
const proofs = ['signature', 'thinkingSignature', 'textSignature', 'thoughtSignature'] as const

/** What a signature proved is changed with it: then it proves nothing, and goes; so does the source's own line. */
const withoutSecrets = async <T>(value: T, clean: Cleaning): Promise<T> => {
  const cleaned = await clean(value)
  return JSON.stringify(cleaned) === JSON.stringify(value) ? value : (unproved(value, cleaned) as T)
}

const unproved = (before: unknown, after: unknown): unknown => {
  if (Array.isArray(before) && Array.isArray(after))
    return after.map((item: unknown, i) => unproved(before[i], item))
  if (!isObject(before) || !isObject(after)) return after
  const isChanged = Object.entries(after).some(
    ([name, member]) => typeof member === 'string' && member !== before[name],
  )
  const gone = new Set<string>(isChanged ? [...proofs, ...(isOrigin(before) ? ['raw'] : [])] : [])
  return Object.fromEntries(
    Object.entries(after)
      .filter(([name]) => !gone.has(name))
      .map(([name, member]) => [name, unproved(before[name], member)]),
  )
}

const isOrigin = ({ format, id }: Json): boolean => typeof format === 'string' && typeof id === 'string'
