import type { EventId } from '../../src/events/event.js'
import { segmentsOf } from '../../src/events/file-log/scan.js'
import type { Store } from '../../src/session/api.js'
import { openStore } from '../../src/session/store/store.js'
import { storeFolder } from './actor.js'
import type { SimDisk } from './disk/disk.js'
import { SimFs } from './disk/sim-fs.js'
import { SimWorkFs } from './disk/sim-work-fs.js'
import type { Computer } from './machine.js'
import { Seeded } from './random.js'

/** A copy of the disk as a process sees it that comes now, alone, and meets no fault. */
export class Onlooker {
  readonly disk: SimDisk
  readonly fs: SimFs
  readonly store: Promise<Store>

  constructor(computer: Computer) {
    this.disk = computer.disk.copy()
    const { clock } = computer
    this.fs = new SimFs({
      disk: this.disk,
      changes: computer.changes,
      harm: null,
      ask: (_, bytes = 0) => bytes,
      done: () => {},
      waitForDisk: (_, then) => then(false),
      watch: () => () => {},
      lose: () => {},
      attempts: (_, bytes) => {
        for (const { line } of segmentsOf(Buffer.from(bytes), 0)) if (line !== null) this.wrote.add(line.id)
      },
    })
    const random = new Seeded(computer.counts.checks, 5)
    this.store = openStore(storeFolder, {
      fs: this.fs,
      work: new SimWorkFs(this.fs),
      userHome: '/root',
      clock,
      random,
    })
  }

  readonly wrote = new Set<EventId>()
}
