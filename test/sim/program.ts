/** What runs in the realm of a process: the engine, and someone who uses it. Bundled by itself. */
import type { EventId } from '../../src/events/event.js'
import { Actor } from './actor.js'
import { act, importAll } from './acts.js'
import type { ProcessMachine } from './machine.js'
import type { KnownSession } from './model.js'

const start = (machine: ProcessMachine, known: Map<EventId, KnownSession>, seed: number): Actor =>
  new Actor(machine, known, seed)

export { act, importAll, start }
