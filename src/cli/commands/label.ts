import type { Event, EventId } from '../../events/event.js'
import { is } from '../../events/event.js'
import type { Context, Run } from '../context.js'
import { Usage } from '../errors/usage.js'
import { readerOf, short, withSession } from '../names.js'
import { safeLine } from '../safe-text.js'

export const run: Run = async (context, [name = '', named, text]) => {
  const reader = await readerOf(context, name)
  const event = named === undefined ? undefined : await reader.resolve(named)
  if (event === undefined || text === undefined) {
    const labels = labelsOf(await reader.events()).filter(
      (label) => event === undefined || label.event === event,
    )
    await list(context, labels)
    return undefined
  }
  const label = text.trim() === '' ? null : text.trim()
  if (label !== null && [...label].length > 200)
    throw new Usage('a label has at most 200 characters', `${label.slice(0, 20)}…`, 'give a shorter one')
  await withSession(context, reader.id, (session) => session.label(event, label))
  if (context.json) await context.out.json({ event, label })
  else
    await context.out.line(
      label === null ? `${short(event)} has no label now` : `${short(event)} is now ${safeLine(label)}`,
    )
  return undefined
}

interface Named {
  readonly event: EventId
  readonly label: string
  /** When it was given. */
  readonly at: string
}

/** The newest label of each node that has one, in the order in which they were given; pure. */
export const labelsOf = (events: Iterable<Event>): readonly Named[] => {
  const labels = new Map<EventId, Named>()
  for (const event of events) {
    if (!is(event, 'label')) continue
    const { target, label, at } = event
    labels.delete(target)
    if (label !== null) labels.set(target, { event: target, label, at })
  }
  return [...labels.values()]
}

const list = async ({ json, out, colours }: Context, labels: readonly Named[]): Promise<void> => {
  if (json) await out.jsonArray(labels)
  else
    for (const { event, label } of labels)
      await out.line(`${colours.yellow(short(event))}  ${safeLine(label)}`)
}
