import { mkdirSync } from 'node:fs'
import { nodeWorkFs } from '../../src/checkpoints/node-work-fs.js'
import type { WorkFile, WorkFs } from '../../src/checkpoints/work-fs.js'
import { nodeFs } from '../../src/events/node-fs.js'
import type { FileHandle, Fs } from '../../src/events/ports.js'

/** `once`: one call fails. `always`: it and every later one (a disk that died). `crash`: the same, and nothing can be undone. */
export type FaultKind = 'once' | 'always' | 'crash'

/** Counts the calls to both file systems, and makes one of them fail. Calls that only look count as well. */
export class Faults {
  calls = 0
  at = Number.POSITIVE_INFINITY
  kind: FaultKind = 'once'
  readonly names: string[] = []

  /** Fails from the nth call on, counted from 1 from now. */
  arm(at: number, kind: FaultKind): void {
    this.calls = 0
    this.names.length = 0
    this.at = at
    this.kind = kind
  }

  disarm(): void {
    this.at = Number.POSITIVE_INFINITY
  }

  /** Whether the call that comes is one that fails. */
  isDue(name: string): boolean {
    this.calls++
    this.names.push(name)
    return this.kind === 'once' ? this.calls === this.at : this.calls >= this.at
  }

  step(name: string): void {
    if (!this.isDue(name)) return
    const code = this.kind === 'crash' ? 'CRASH' : 'EIO'
    throw Object.assign(new Error(`${code}: injected at call ${this.calls}, ${name}`), { code })
  }
}

/** Every method but these asks for a fault first. */
const faulty = <T extends object>(target: T, faults: Faults, prefix: string, spared: readonly string[]): T =>
  new Proxy(target, {
    get(object, name) {
      const member = Reflect.get(object, name)
      if (typeof member !== 'function' || spared.includes(String(name))) {
        return typeof member === 'function' ? member.bind(object) : member
      }
      return (...parameters: unknown[]) => {
        faults.step(`${prefix}.${String(name)}`)
        return member.apply(object, parameters)
      }
    },
  })

/** Syncs are left out: what a test of a process's crash sees is in the page cache. */
const unsynced = async (): Promise<void> => {}

export const faultyFs = (faults: Faults): Fs => {
  const open: Fs['open'] = (path, mode) => {
    const file = nodeFs.open(path, mode)
    const quick: FileHandle = new Proxy(file, {
      get(object, name) {
        if (name === 'sync') return unsynced
        const member = Reflect.get(object, name)
        return typeof member === 'function' ? member.bind(object) : member
      },
    })
    return faulty(quick, faults, 'store-file', ['close', 'tryLock', 'unlock'])
  }
  const makeDir: Fs['makeDir'] = (path) => {
    mkdirSync(path, { recursive: true, mode: 0o700 })
  }
  return faulty({ ...nodeFs, open, makeDir, syncDir: unsynced }, faults, 'store', ['watch'])
}

export const faultyWork = (faults: Faults): WorkFs => {
  const open: WorkFs['open'] = (path, mode) => {
    const file = nodeWorkFs.open(path, mode)
    const quick: WorkFile = {
      read: (buffer, position) => file.read(buffer, position),
      // A write that fails may have taken half of the bytes.
      write: (bytes) => {
        if (faults.calls + 1 === faults.at) file.write(bytes.subarray(0, bytes.length / 2))
        faults.step('file.write')
        file.write(bytes)
      },
      stat: () => file.stat(),
      chmod: (mode) => file.chmod(mode),
      sync: unsynced,
      close: () => file.close(),
    }
    return faulty(quick, faults, 'file', ['close', 'write'])
  }
  return faulty({ ...nodeWorkFs, open, syncDir: unsynced }, faults, 'work', ['now'])
}
