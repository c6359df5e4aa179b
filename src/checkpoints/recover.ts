import type { EventId } from '../events/event.js'
import { type ApplyPorts, finish } from './apply.js'
import type { Journal } from './journal.js'
import { type LeftAside, rollBack } from './roll-back.js'

/** How a restore that a crash cut off came to its end. */
export interface Recovered {
  readonly session: EventId
  readonly event: EventId
  readonly how: 'finished' | 'rolled-back'
  readonly left: readonly LeftAside[]
}

/** The logs, as far as recovery needs them. What they say is there is durable. */
export interface RestoreLog {
  has(session: EventId, event: EventId): Promise<boolean>
  /** Resolves once the line is in the log of its session; false where that can never be (the session is gone). */
  append(session: EventId, line: string): Promise<boolean>
}

/**
 * Ends every restore that did not come to its end: one whose files were all in place is finished, and its event appended
 * unless it is in the log; any other one, and one that no log can hold any more, is rolled back. Whoever calls holds the restore lock, so none of them is running.
 */
export const recoverRestores = async (ports: ApplyPorts, log: RestoreLog): Promise<readonly Recovered[]> => {
  const ended: Recovered[] = []
  for (const journal of ports.journals.pending()) ended.push(await end(ports, log, journal))
  ports.journals.tidy()
  return ended
}

const end = async (ports: ApplyPorts, log: RestoreLog, journal: Journal): Promise<Recovered> => {
  const { session, event, line, phase } = journal
  const isRecorded =
    phase === 'applied' && ((await log.has(session, event)) || (await log.append(session, line)))
  if (!isRecorded) return { session, event, how: 'rolled-back', left: await rollBack(ports, journal) }
  await finish(ports, journal)
  return { session, event, how: 'finished', left: [] }
}
