import type { Operation } from './disk/sim-fs.js'
import { Seeded } from './random.js'

/** What a program, a person or the world does, one thing after the other; much of it goes on at once. */
export interface Step {
  readonly kind: Kind
  /** Which process. */
  readonly process: number
  /** Chooses among what there is. */
  readonly pick: number
  /** Seeds what is random in the step itself. */
  readonly salt: number
  /** How many events may happen before the next step begins; -1: until nothing is under way. */
  readonly turns: number
  readonly fault?: Fault
}

/** A fault that waits for its call: the one after so many of its kind. */
export interface Fault {
  readonly what: 'kill' | 'cut' | 'eio' | 'full' | 'lost-sync' | 'slow'
  /** The calls that it waits for; null: any. */
  readonly on: Operation | null
  readonly after: number
  /** How often in a row. */
  readonly times: number
}

const weights = {
  append: 30,
  large: 1,
  together: 4,
  unsynced: 3,
  move: 8,
  mark: 5,
  edit: 8,
  open: 6,
  create: 3,
  close: 4,
  refresh: 2,
  list: 4,
  read: 4,
  watch: 2,
  fork: 1,
  archive: 1,
  unarchive: 1,
  search: 3,
  prune: 1,
  purge: 1,
  redact: 2,
  repair: 1,
  import: 3,
  reindex: 1,
  'drop-index': 1,
  'sweep-cache': 2,
  clock: 2,
  kill: 3,
  cut: 3,
  settle: 3,
  fault: 24,
} as const

export type Kind = keyof typeof weights

const kinds = Object.entries(weights).flatMap(([kind, weight]) => Array<Kind>(weight).fill(kind as Kind))

const processes = 3

/** What is searched for: texts that stand in some events. */
export const searched = ['ok', 'line break', 'xxx', 'hidden'] as const

/** The steps of a run, drawn from its seed. */
export const stepsOf = (seed: number, count: number): readonly Step[] => {
  const seeded = new Seeded(seed, 1)
  const steps: Step[] = []
  while (steps.length < count) {
    const step = stepFrom(seeded, seeded.pick(kinds), seeded.below(processes))
    steps.push(step)
    // A fault wants someone to meet it, and someone who comes after.
    if (step.fault === undefined) continue
    const met = stepFrom(seeded, seeded.pick(step.fault.what === 'lost-sync' ? writing : busy), step.process)
    if (step.fault.what !== 'lost-sync') {
      steps.push(met)
      continue
    }
    // Another process may come while the sync is under way.
    const isSame = seeded.chance(0.5)
    const next = isSame ? step.process : (step.process + 1) % processes
    steps.push(isSame ? met : { ...met, turns: seeded.below(3) })
    steps.push({ ...stepFrom(seeded, seeded.pick(writing), next), pick: met.pick })
  }
  return steps
}

const writing: readonly Kind[] = ['append', 'append', 'unsynced', 'together', 'move', 'move', 'edit']
const busy: readonly Kind[] = [
  'append',
  'append',
  'append',
  'together',
  'move',
  'move',
  'move',
  'edit',
  'create',
  'open',
  'close',
  'large',
  'fork',
  'archive',
  'reindex',
  'list',
  'unsynced',
  'search',
  'redact',
  'redact',
  'import',
  'import',
  'prune',
  'repair',
]

const stepFrom = (seeded: Seeded, kind: Kind, process: number): Step => {
  const step = {
    kind,
    process,
    pick: seeded.below(1 << 20),
    salt: seeded.next32(),
    turns: seeded.chance(0.25) ? -1 : seeded.below(seeded.chance(0.5) ? 3 : 12),
  }
  return kind === 'fault' ? { ...step, turns: 0, fault: faultFrom(seeded) } : step
}

/** Few calls are of these, and they are where it hurts. */
const rare: readonly Operation[] = [
  'write',
  'sync',
  'rename',
  'syncDir',
  'makeDir',
  'chmod',
  'link',
  'remove',
]

const faultFrom = (seeded: Seeded): Fault => {
  const what = seeded.pick([
    ...(['kill', 'kill', 'cut', 'cut', 'cut', 'eio', 'full'] as const),
    ...(['lost-sync', 'lost-sync', 'slow'] as const),
  ])
  const times = seeded.chance(0.7) ? 1 : seeded.between(2, 4)
  if (what === 'lost-sync' || what === 'slow')
    return { what, on: seeded.chance(0.75) ? 'sync' : 'syncDir', after: seeded.below(3), times }
  if (what === 'full')
    return {
      what,
      on: seeded.pick(['write', 'write', 'open', 'makeDir', 'rename', 'link']),
      after: seeded.below(4),
      times,
    }
  if (seeded.chance(0.6)) return { what, on: seeded.pick(rare), after: seeded.below(3), times }
  return { what, on: null, after: seeded.below(60), times }
}
