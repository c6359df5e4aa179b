import { hasTag } from '../../events/errors/tagged.js'
import type { Event, EventId } from '../../events/event.js'
import { treeOf } from '../../events/tree.js'
import { Live } from '../../projections/live.js'
import type { Projection } from '../../projections/projection.js'
import { isProjectionName, projectionNamed, projections } from '../../projections/registry.js'
import { branchEvents, replay } from '../../projections/replay.js'
import { stateHash } from '../../projections/state-hash.js'
import type { SessionReader } from '../../session/api.js'
import type { Context, Run } from '../context.js'
import { damageReport } from '../damage-report.js'
import { Usage } from '../errors/usage.js'
import { eventOf, readerOf, short } from '../names.js'
import { counted } from '../quantity.js'

export const run: Run = async (context, [name = ''], options) => {
  const named = options.text('projection') ?? 'sessionIndex'
  if (!isProjectionName(named))
    throw new Usage(`no projection ${named}`, '', `known are ${Object.keys(projections).join(', ')}`)
  const projection = projectionNamed(named)
  const reader = await readerOf(context, name)
  const { report, finish } = damageReport(context, reader)
  const view = { salvage: options.flag('salvage'), report }
  const all = await reader.events(view)
  const events = upTo(all, (await eventOf(reader, options.text('to'), view)).at)
  if (options.flag('each')) await printEach(context, projection, events)
  else await printOne(context, reader, projection, events)
  return finish()
}

/** The log as it was when an event had just been written. */
const upTo = (events: readonly Event[], to: EventId | undefined): readonly Event[] =>
  to === undefined ? events : events.slice(0, events.findIndex(({ id }) => id === to) + 1)

type Any = Projection<unknown, unknown>

const printOne = async (
  { json, out, colours }: Context,
  reader: SessionReader,
  projection: Any,
  events: readonly Event[],
): Promise<void> => {
  const state = projection.view(replay(projection, events))
  const hash = stateHash(state)
  const savedAgrees = await savedAgreesOf(reader)
  if (json) {
    await out.json({ projection: projection.name, events: events.length, state, hash, savedAgrees })
    return
  }
  await out.line(JSON.stringify(state, null, 2))
  const saved =
    savedAgrees === null
      ? 'no saved fold to compare with'
      : savedAgrees
        ? 'the saved fold agrees'
        : 'the saved fold differs'
  await out.line(
    `${colours.yellow(hash)}  ${projection.name} of ${counted(events.length, 'event')}; ${saved}`,
  )
}

/** Null where the log is damaged, so that there is nothing whole to compare with. */
const savedAgreesOf = async (reader: SessionReader): Promise<boolean | null> => {
  try {
    return await reader.savedAgrees()
  } catch (error) {
    if (hasTag(error, 'Damaged')) return null
    throw error
  }
}

const printEach = async (
  { json, out, colours }: Context,
  projection: Any,
  events: readonly Event[],
): Promise<void> => {
  const steps = stepsOf(projection, events)
  if (json) {
    await out.jsonArray(steps)
    return
  }
  for (const { event, events: count, hash } of steps)
    await out.line(`${colours.dim(String(count).padStart(6))}  ${colours.yellow(short(event))}  ${hash}`)
}

interface Step {
  readonly event: EventId
  readonly projection: string
  readonly events: number
  readonly state: unknown
  readonly hash: string
}

/** The state after each event, kept up to date as a writer keeps it (INV-3). */
function* stepsOf(projection: Any, events: readonly Event[]): Generator<Step> {
  const seen: Event[] = []
  const live = new Live(projection, (leaf) => {
    const tree = treeOf(seen)
    return tree === null ? [] : branchEvents(seen, tree, leaf)
  })
  for (const event of events) {
    seen.push(event)
    live.apply(event)
    const state = live.view()
    yield { event: event.id, projection: projection.name, events: seen.length, state, hash: stateHash(state) }
  }
}
