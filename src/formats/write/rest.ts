import type { Event } from '../../events/event.js'
import type { Losses, LossKind } from './losses.js'
import { isOwn } from './own.js'
import type { OtherStep } from './step.js'

/** What says nothing to the model, for a target that keeps none of it: counted. */
export const countOther = ({ event }: OtherStep, losses: Losses): void => {
  const { id, type, summary } = event
  if (type === 'edit' || (type === 'branch' && summary === undefined)) return
  losses.add(kinds[type] ?? 'own events', id)
}

const kinds: Readonly<Record<string, LossKind>> = {
  branch: 'summaries',
  checkpoint: 'checkpoints',
  restore: 'checkpoints',
  label: 'labels',
  usage: 'usage',
}

/** Counts notes that a target has no place for: those of other formats, but for the types that it `carries`. */
export const countNotes = (
  events: readonly Event[],
  format: string,
  carries: readonly string[],
  losses: Losses,
): void => {
  const silent = new Set([...carries, 'status', 'title', 'recovered', 'redaction', 'repaired'])
  for (const event of events)
    if (event.note === true && !silent.has(event.type) && !isOwn(event, format))
      losses.add(kinds[event.type] ?? 'notes', event.id)
}
