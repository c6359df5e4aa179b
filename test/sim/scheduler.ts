interface Event {
  readonly at: number
  /** Whose it is; null: the world's. */
  readonly owner: object | null
  /** Decides between events of one time, so that the seed decides who comes first. */
  readonly order: number
  readonly number: number
  readonly run: () => void
}

const { setImmediate: turn } = globalThis

/** Gives its turn to everything that waits for no event: promises that are settled, streams, and what hangs on them. */
const settled = (): Promise<void> => new Promise((resolve) => turn(resolve))

/**
 * Time, as far as the engine knows it. What waits (syncs, pauses between tries for a lock, timers of watches) waits here,
 * and goes on in an order that the seed decides. Nothing waits for a real clock.
 */
export class Scheduler {
  now = 0
  ran = 0
  #queue: Event[] = []
  #last = 0

  constructor(readonly order: () => number) {}

  /** Runs `run` in so many milliseconds of its own time; gives the way to call that off. */
  after(ms: number, run: () => void, owner: object | null = null): () => void {
    const event: Event = { at: this.now + ms, owner, order: this.order(), number: ++this.#last, run }
    let low = 0
    for (let high = this.#queue.length; low < high; ) {
      const middle = (low + high) >> 1
      if (isBefore(event, this.#queue[middle] as Event)) low = middle + 1
      else high = middle
    }
    this.#queue.splice(low, 0, event)
    return () => {
      const at = this.#queue.indexOf(event)
      if (at >= 0) this.#queue.splice(at, 1)
    }
  }

  /** Lets events happen while `goesOn` and there are any. */
  async run(goesOn: () => boolean): Promise<void> {
    await settled()
    while (goesOn()) {
      const event = this.#queue.pop()
      if (event === undefined) return
      this.#happen(event)
      await settled()
    }
  }

  /**
   * Lets the next event of someone else happen at once, in the midst of what those in `busy` do. False: none of the others
   * waits for anything.
   */
  runOther(busy: ReadonlySet<object>): boolean {
    const at = this.#queue.findLastIndex(({ owner }) => owner !== null && !busy.has(owner))
    const [event] = at < 0 ? [] : this.#queue.splice(at, 1)
    if (event === undefined) return false
    this.#happen(event)
    return true
  }

  #happen(event: Event): void {
    this.now = Math.max(this.now, event.at)
    this.ran++
    event.run()
  }

  /** Forgets all that waits: whoever waited is dead. */
  clear(): void {
    this.#queue = []
  }
}

/** The queue is kept last first. */
const isBefore = (a: Event, b: Event): boolean =>
  a.at !== b.at ? a.at < b.at : a.order !== b.order ? a.order < b.order : a.number < b.number

/** Does something in a time of its own, in which nothing else happens. Rejects where it waits for what never comes. */
export const alone = async <T>(task: () => Promise<T>): Promise<T> => {
  const scheduler = new Scheduler(() => 0)
  const leave = inTimeOf(scheduler)
  let isDone = false
  const done = task().finally(() => {
    isDone = true
  })
  done.catch(() => undefined)
  try {
    await scheduler.run(() => !isDone)
    if (!isDone) throw new Error('it waits for what never comes')
    return await done
  } finally {
    leave()
  }
}

/** Puts the scheduler's time in the place of what timers there are; gives the way back. */
export const inTimeOf = (scheduler: Scheduler): (() => void) => {
  const { setTimeout, clearTimeout, setInterval, clearInterval, setImmediate } = globalThis
  const before = { setTimeout, clearTimeout, setInterval, clearInterval, setImmediate }
  Object.assign(
    globalThis,
    timersOf((ms, run) => scheduler.after(ms, run)),
  )
  return () => {
    Object.assign(globalThis, before)
  }
}

/** What a program knows as its timers, by a way to wait so many milliseconds. */
export const timersOf = (after: (ms: number, run: () => void) => () => void): Timers => {
  const stops = new Map<number, () => void>()
  let last = 0
  const once = (run: () => void, ms = 1): number => {
    const id = ++last
    const stop = after(Math.max(1, ms), () => {
      stops.delete(id)
      run()
    })
    stops.set(id, stop)
    return id
  }
  const again = (run: () => void, ms = 1): number => {
    const id = ++last
    const next = (): void => {
      const stop = after(Math.max(1, ms), () => {
        next()
        run()
      })
      stops.set(id, stop)
    }
    next()
    return id
  }
  const stop = (id: number): void => {
    stops.get(id)?.()
    stops.delete(id)
  }
  return {
    setTimeout: once,
    clearTimeout: stop,
    setInterval: again,
    clearInterval: stop,
    setImmediate: (run) => once(run, 0),
  }
}

interface Timers {
  readonly setTimeout: (run: () => void, ms?: number) => number
  readonly clearTimeout: (id: number) => void
  readonly setInterval: (run: () => void, ms?: number) => number
  readonly clearInterval: (id: number) => void
  readonly setImmediate: (run: () => void) => number
}
