import type { Damage } from '../../src/events/errors/index.js'
import type { EventId } from '../../src/events/event.js'
import type { Actor } from './actor.js'
import { check, type Seen } from './check.js'
import { checkGrown, checkLive, checkWatchers } from './check-live.js'
import { Killed } from './disk/sim-fs.js'
import { Computer, type Counts, type Harm, type ProcessMachine } from './machine.js'
import { Broken, type KnownSession } from './model.js'
import type * as Program from './program.js'
import { Seeded } from './random.js'
import { type Realm, realms } from './realm.js'
import { alone, inTimeOf } from './scheduler.js'
import type { Step } from './step.js'

/** What became of a run: null where every law held. */
export interface Outcome {
  readonly failure: Failure | null
  readonly counts: Counts
}

export interface Failure {
  readonly law: string
  readonly detail: string
  /** The step after which it was seen; steps.length: in the phase without faults. */
  readonly step: number
  readonly stack: string
}

/** No call goes on for longer than this, whatever is slow (ms of the run's own time). */
const patience = 200_000
/** Lets watchers look once more (ms). */
const look = 1_200

/** The run under way: what no one waits for, and rejects, is told to it. */
let playing: World | null = null
export const whenUnhandled = (error: unknown): void => playing?.unhandled(error)

/** Plays steps on a machine of their own, with the chances of a seed: the same steps and seed, the same run. */
export const play = async (
  seed: number,
  steps: readonly Step[],
  harm: Harm | null = null,
): Promise<Outcome> => {
  const world = new World(seed, harm)
  const leave = inTimeOf(world.computer.scheduler)
  playing = world
  let at = 0
  try {
    for (; at < steps.length; at++) await world.take(steps[at] as Step)
    await world.end()
    return { failure: null, counts: world.computer.counts }
  } catch (error) {
    return { failure: failureOf(error, at), counts: world.computer.counts }
  } finally {
    world.close()
    leave()
  }
}

export const failureOf = (error: unknown, step: number): Failure => {
  const { name, message, stack = '' } = error as Error
  const { law: broken } = error as { readonly law?: string }
  const law = broken ?? tagOf(error) ?? name
  return { law, detail: message, step, stack }
}

/** Of an error of the engine's own; null: of another. It may be of any realm. */
const tagOf = (error: unknown): string | null => {
  const { tag } = error as { readonly tag?: unknown }
  return typeof tag === 'string' ? tag : null
}

const programOf = ({ realm }: ProcessMachine): typeof Program => realm.program as typeof Program

/** One for each process at a time. */
const places = realms(3)

class World {
  readonly computer: Computer
  readonly known = new Map<EventId, KnownSession>()
  readonly actors: (Actor | null)[] = [null, null, null]
  /** How many calls of each process have not ended. */
  readonly #underWay = new Map<Actor, number>()
  #seeds = 0
  #broken: unknown = null
  #seen: ReadonlyMap<EventId, Seen> = new Map()

  constructor(
    readonly seed: number,
    harm: Harm | null,
  ) {
    this.computer = new Computer(seed, harm)
  }

  async take(step: Step): Promise<void> {
    const { kind, salt, turns, fault } = step
    const { computer } = this
    if (kind === 'kill') this.#kill(step.process)
    else if (kind === 'cut') computer.powerOff()
    else if (kind === 'clock') computer.offset += clockStep(new Seeded(salt))
    else if (kind === 'sweep-cache') this.#sweepCache()
    else if (kind === 'fault' && fault !== undefined) this.#actor(step.process).machine.arm(fault, salt)
    else if (kind !== 'settle') this.#act(step)
    await this.#turn(kind === 'settle' ? -1 : turns)
    if (computer.isDown) await this.#restart(new Seeded(salt, 9))
    else if (kind === 'settle') await this.#checkNow(salt)
  }

  /** A phase without faults: all restarts, every session opens and accepts an append, and all laws hold. */
  async end(): Promise<void> {
    for (const actor of this.actors) actor?.machine.disarm()
    await this.#turn(-1)
    if (this.computer.isDown) await this.#restart(new Seeded(this.seed, 10))
    for (const actor of this.actors) {
      if (actor === null || !actor.machine.isAlive) continue
      actor.machine.run(() => actor.leave())
      this.computer.kill(actor.machine)
    }
    this.computer.scheduler.clear()
    await this.#checkNow(this.seed)
    await this.#openAll()
    await this.#checkNow(this.seed >> 2)
  }

  /** What nobody waits for ends a real program: only who was killed may leave it behind. */
  unhandled(error: unknown): void {
    if (!isOfKilled(error)) this.#broken ??= new Broken('UNHANDLED', String((error as Error).stack))
  }

  close(): void {
    this.computer.powerOff()
  }

  async #openAll(): Promise<void> {
    const actor = this.#newActor(0)
    for (const { id, place } of this.known.values())
      if (place === 'live') await this.#through(actor, (ended) => actor.comeLast(id, ended))
    await this.#through(actor, (ended) => programOf(actor.machine).importAll(actor, ended))
  }

  /** Does something to its end, which must come. */
  async #through(actor: Actor, begin: (ended: (error: unknown) => void) => void): Promise<void> {
    let end: { readonly error: unknown } | undefined
    actor.machine.run(() =>
      begin((error) => {
        end = { error }
      }),
    )
    await this.computer.scheduler.run(() => end === undefined)
    if (end === undefined) throw new Broken('PROGRESS', 'in the end something waits for nothing')
    if (end.error !== null) throw end.error
  }

  #actor(process: number): Actor {
    const there = this.actors[process]
    if (there?.machine.isAlive === true) return there
    const actor = this.#newActor(process)
    this.actors[process] = actor
    return actor
  }

  #newActor(process: number): Actor {
    const realm = places[process] as Realm
    const machine = this.computer.start(realm)
    let actor: Actor | undefined
    machine.run(() => {
      actor = programOf(machine).start(machine, this.known, this.seed * 1000 + ++this.#seeds)
    })
    return actor as Actor
  }

  #kill(process: number): void {
    const actor = this.actors[process]
    if (actor?.machine.isAlive === true) this.computer.kill(actor.machine)
  }

  #act(step: Step): void {
    const actor = this.#actor(step.process)
    const count = (change: number): unknown =>
      this.#underWay.set(actor, (this.#underWay.get(actor) ?? 0) + change)
    count(1)
    const ended = (error: unknown): void => {
      count(-1)
      if (error !== null) this.#refused(actor, error)
    }
    actor.machine.run(() => programOf(actor.machine).act(actor, step, ended))
  }

  /** What a call may be refused with. Whatever else it throws is a fault of ours. */
  #refused(actor: Actor, error: unknown): void {
    if (!actor.machine.isAlive) return
    const tag = tagOf(error)
    const isExpected =
      isGap(error) ||
      (tag !== null ? this.#mayRefuse(actor, tag) : actor.machine.hadFault && isOfSystem(error))
    if (!isExpected) this.#broken ??= error
    // What failed may have left its mark on the session; another call begins anew.
  }

  #mayRefuse(actor: Actor, tag: string): boolean {
    if (always.has(tag)) return true
    return actor.machine.hadFault || this.computer.hasLost || this.computer.counts.faults > 0
  }

  /** Lets so many events happen; -1: until no call is under way and no watcher has anything to see. */
  async #turn(turns: number): Promise<void> {
    const { computer } = this
    const { scheduler } = computer
    const until = scheduler.now + patience
    let left = turns
    const isAlive = (): boolean => !computer.isDown && !computer.isStuck && this.#broken === null
    const isWaiting = (): boolean =>
      [...this.#underWay].some(([{ machine }, count]) => count > 0 && machine.isAlive)
    await scheduler.run(() => isAlive() && (turns < 0 ? isWaiting() && scheduler.now < until : left-- > 0))
    if (turns < 0 && isAlive() && isWaiting()) throw new Broken('PROGRESS', 'a call goes on for ever')
    if (turns < 0) {
      const end = scheduler.now + look
      const watches = this.actors.some((actor) => actor?.watched.length)
      if (watches) await scheduler.run(() => isAlive() && scheduler.now < end)
    }
    if (computer.isStuck) throw computer.endless()
    if (this.#broken !== null) throw this.#broken
  }

  async #restart(seeded: Seeded): Promise<void> {
    this.computer.restart(seeded)
    this.#underWay.clear()
    for (const known of this.known.values()) known.soft.clear()
    this.#seen = new Map()
    await this.#checkNow(seeded.next32())
  }

  /** A failed sync's bytes are gone from the cache, too: nothing of them was acknowledged. */
  #sweepCache(): void {
    for (const [, file] of this.computer.disk.files()) {
      if (file.isWhole) continue
      file.evict()
      this.#seen = new Map()
      for (const known of this.known.values()) known.soft.clear()
    }
  }

  async #checkNow(deep: number | null): Promise<void> {
    if (this.computer.hasLost) for (const known of this.known.values()) known.soft.clear()
    const seen = await alone(() => check(this.computer, this.known, deep))
    // After a failed sync the cache may show what is gone later, to whoever looked meanwhile.
    if (!this.computer.hasLost) {
      checkGrown(this.#seen, seen, this.known)
      for (const actor of this.actors) {
        if (actor?.machine.isAlive !== true || actor.machine.hadFault) continue
        checkLive(actor, seen)
        checkWatchers(actor, seen)
      }
    }
    this.#seen = new Map(
      [...seen].map(([id, { bytes, ...rest }]) => [id, { ...rest, bytes: Buffer.from(bytes) }]),
    )
  }
}

const always = new Set(['Refused', 'NotFound', 'InvalidDraft', 'Moved', 'RestoreConflict'])

/** What was under way in a process that was killed: whatever the engine made of it. */
const isOfKilled = (error: unknown): boolean => {
  for (let one = error; one instanceof Error; one = one.cause) if (one instanceof Killed) return true
  return false
}

/** Lines hang on what a cut took: who reads without closing gaps is told, and so is who wants to append. */
const isGap = (error: unknown): boolean => {
  const { damage } = error as { readonly damage?: Damage }
  return damage?.kind === 'gap' && damage.orphans !== undefined
}

const isOfSystem = (error: unknown): boolean => typeof (error as NodeJS.ErrnoException).code === 'string'

const clockStep = (seeded: Seeded): number =>
  seeded.pick([-1, 1]) * seeded.pick([3, 1000, 3_600_000, 40 * 24 * 3_600_000])
