import type { Clock } from '../../src/events/ports.js'
import { type DiskOptions, failure, SimDisk } from './disk/disk.js'
import type { Promised, SimFile } from './disk/file.js'
import { Changes, Killed, type Machine, type Operation } from './disk/sim-fs.js'
import { Broken } from './model.js'
import { Seeded } from './random.js'
import { nobody, type Realm } from './realm.js'
import { Scheduler } from './scheduler.js'
import type { Fault } from './step.js'

/** What no disk and no kernel does, and what the laws must notice. */
export const harms = [
  'no-sync',
  'no-folder-sync',
  'no-locks',
  'short-writes-unsaid',
  'no-failed-syncs-told',
] as const
export type Harm = (typeof harms)[number]

/** No run needs so many calls by far. */
const mostCalls = 200_000

interface Armed {
  readonly fault: Fault
  readonly salt: number
  after: number
  times: number
}

/** What was done to a run, in numbers. */
export interface Counts {
  calls: number
  kills: number
  cuts: number
  faults: number
  /** How often a process was stopped between two calls, and others went first. */
  switches: number
  acked: number
  checks: number
}

/** One machine: a disk, a clock, and the processes that run on it until they or it are killed. */
export class Computer {
  readonly scheduler: Scheduler
  readonly seeded: Seeded
  readonly changes = new Changes()
  readonly counts: Counts = { calls: 0, kills: 0, cuts: 0, faults: 0, switches: 0, acked: 0, checks: 0 }
  readonly clock: Clock = { now: () => this.#started + Math.floor(this.scheduler.now) + this.offset }
  readonly disk: SimDisk
  offset = 0
  /** Ids of every line that any process tried to write into a log. */
  readonly attempted = new Set<string>()
  /** What stands in the user's files, as they or their tools wrote it last. */
  readonly precious = new Map<string, string>()
  /** Other tools' files: their records. */
  readonly foreign = new Map<string, string[]>()
  /** How often someone set out to prune, or to purge, in all. */
  prunes = 0
  purges = 0
  /** Set when the power goes: nothing happens any more before `restart`. */
  isDown = false
  isStuck = false
  /** A sync failed since the machine started: what is not synced may be gone without a power cut. */
  hasLost = false
  readonly #started = Date.UTC(2026, 11, 1, 9)
  readonly #running = new Set<ProcessMachine>()

  constructor(
    seed: number,
    readonly harm: Harm | null = null,
  ) {
    this.seeded = new Seeded(seed, 2)
    const order = new Seeded(seed, 3)
    this.#switching = new Seeded(seed, 6)
    this.#switchEvery = this.#switching.pick([0, 4, 10, 30])
    this.scheduler = new Scheduler(() => order.next32())
    const options: DiskOptions = {
      naming: this.seeded.chance(0.5) ? 'journal' : 'loose',
      redirties: this.seeded.chance(0.5) ? 'page' : 'sector',
      clock: this.clock.now,
    }
    this.disk = new SimDisk(options)
  }

  /** Someone asks, and asks again, and gets no further. */
  endless(): Broken {
    this.isStuck = true
    return new Broken('PROGRESS', `more than ${mostCalls} calls`)
  }

  /** Starts a process in a realm, where none is running. */
  start(realm: Realm): ProcessMachine {
    const process = new ProcessMachine(this, realm)
    this.#running.add(process)
    return process
  }

  /** Processes that are in the midst of something: each of them but the last was stopped there, and goes on later. */
  readonly busy = new Set<ProcessMachine>()
  readonly #switching: Seeded
  /** One of so many calls lets others go first; 0: none. */
  readonly #switchEvery: number

  /** Before a call: now and then the kernel lets other processes go first, for as long as it likes. */
  preempt(): void {
    if (this.#switchEvery === 0 || this.#switching.below(this.#switchEvery) > 0) return
    const most = this.#switching.chance(0.5) ? 1 : this.#switching.between(2, 24)
    for (let count = 0; count < most && !this.isDown && !this.isStuck; count++)
      if (!this.scheduler.runOther(this.busy)) return
    this.counts.switches++
  }

  kill(process: ProcessMachine): void {
    if (!this.#running.delete(process)) return
    this.counts.kills++
    process.die()
  }

  powerOff(): void {
    if (this.isDown) return
    this.counts.cuts++
    this.isDown = true
    for (const process of this.#running) process.die()
    this.#running.clear()
  }

  /** What the disk holds after the cut is decided now. */
  restart(seeded: Seeded): void {
    this.scheduler.clear()
    this.changes.clear()
    this.disk.cut(seeded)
    this.isDown = false
    this.hasLost = false
  }
}

/** The machine as one process sees it. */
export class ProcessMachine implements Machine {
  isAlive = true
  /** It met a fault: what it then refuses may be for that. */
  hadFault = false
  /** Ids of the lines that it tried to write itself. */
  readonly attempted = new Set<string>()
  #armed: Armed[] = []
  /** What a short write left to be refused: a disk that is full stays so for a while. */
  #fullFor = 0

  /** Closes what the process has open; its program gives it. */
  closeAll: () => void = () => {}

  constructor(
    readonly computer: Computer,
    readonly realm: Realm,
  ) {
    realm.process = this
  }

  /** Lets the process do something, and all that follows from it until it waits. */
  run(job: () => void): void {
    if (!this.isAlive) return
    const { busy } = this.computer
    busy.add(this)
    try {
      this.realm.run(job)
    } finally {
      busy.delete(this)
    }
  }

  /** A timer of the process. */
  after(ms: number, job: () => void): () => void {
    return this.computer.scheduler.after(ms, () => this.run(job), this)
  }

  watch(path: string, onChange: () => void): () => void {
    return this.changes.watch(path, () => this.after(0, onChange))
  }

  get disk(): SimDisk {
    return this.computer.disk
  }
  get changes(): Changes {
    return this.computer.changes
  }

  get harm(): Harm | null {
    return this.computer.harm
  }

  arm(fault: Fault, salt: number): void {
    this.#armed.push({ fault, salt, after: fault.after, times: fault.times })
  }

  disarm(): void {
    this.#armed = []
    this.#fullFor = 0
  }

  die(): void {
    this.isAlive = false
    this.#armed = []
    this.closeAll()
    if (this.realm.process === this) this.realm.process = nobody
  }

  ask(operation: Operation, bytes = 0): number {
    if (++this.computer.counts.calls > mostCalls) throw this.computer.endless()
    if (!this.isAlive) throw new Killed()
    this.computer.preempt()
    if (!this.isAlive) throw new Killed()
    if (operation === 'write' && this.#fullFor > 0) {
      this.#fullFor--
      throw failure('ENOSPC')
    }
    const armed = this.#due(operation, ['kill', 'cut', 'eio', 'full'])
    return armed === null ? bytes : this.#strike(armed, operation, bytes)
  }

  #due(operation: Operation, kinds: readonly Fault['what'][]): Armed | null {
    for (const armed of this.#armed) {
      const { on, what } = armed.fault
      if (!kinds.includes(what) || (on !== null && on !== operation)) continue
      if (armed.after-- > 0) continue
      if (--armed.times <= 0) this.#armed = this.#armed.filter((one) => one !== armed)
      this.computer.counts.faults++
      this.hadFault = true
      return armed
    }
    return null
  }

  #strike({ fault: { what }, salt }: Armed, operation: Operation, bytes: number): number {
    const seeded = new Seeded(salt, bytes)
    if (what === 'eio') throw failure('EIO')
    if (what === 'full') {
      if (operation !== 'write' || seeded.chance(0.3)) throw failure('ENOSPC')
      this.#fullFor = seeded.below(3)
      return someOf(seeded, bytes)
    }
    if (hasEnd.has(operation) && seeded.chance(0.5)) {
      // Only once it has happened; of a write some of it.
      this.#dieAfter = what
      return operation === 'write' && seeded.chance(0.7) ? someOf(seeded, bytes) : bytes
    }
    return this.#end(what)
  }

  #dieAfter: Fault['what'] | null = null

  done(): void {
    const what = this.#dieAfter
    this.#dieAfter = null
    if (what !== null) this.#end(what)
  }

  #end(what: Fault['what']): never {
    if (what === 'cut') this.computer.powerOff()
    else this.computer.kill(this)
    throw new Killed()
  }

  waitForDisk(operation: 'sync' | 'syncDir', then: (isLost: boolean) => void): void {
    const { seeded } = this.computer
    const slow = this.#due(operation, ['slow'])
    const lost = this.#due(operation, ['lost-sync'])
    const ms = slow === null ? seeded.below(12) / 4 : new Seeded(slow.salt, 7).pick([60, 700, 2500, 11_000])
    this.after(ms, () => then(lost !== null))
  }

  lose(file: SimFile, promised: Promised): void {
    this.computer.hasLost = true
    file.lose(promised, this.computer.seeded)
  }

  attempts(path: string, bytes: Uint8Array): void {
    if (!path.includes('/data.jsonl') && !path.includes('/.new-log-')) return
    const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
    for (let at = 0; at < text.length; ) {
      if (text.toString('latin1', at, at + idAt) === idPrefix) {
        const id = text.toString('latin1', at + idAt, at + idAt + 32)
        this.attempted.add(id)
        this.computer.attempted.add(id)
      }
      const end = text.indexOf(0x0a, at)
      if (end < 0) return
      at = end + 1
    }
  }
}

const idPrefix = '{"id":"'
const idAt = idPrefix.length
/** How much of a write is taken; all but its newline now and then, which leaves a last line that is whole without it. */
const someOf = (seeded: Seeded, bytes: number): number =>
  seeded.chance(0.2) ? Math.max(0, bytes - 1) : seeded.below(bytes)

/** Calls of which the machine is told when they have happened. */
const hasEnd: ReadonlySet<Operation> = new Set(['open', 'write', 'rename', 'link', 'remove'])
