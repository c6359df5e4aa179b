// @ts-check
/** What shim.c and the tests share: which call is to fail, and how. */
import { closeSync, openSync, readSync, writeSync } from 'node:fs'

export const kinds = /** @type {const} */ ({
  none: 0,
  EIO: 1,
  ENOSPC: 2,
  EINTR: 3,
  /** A write takes half of what it was given, and says so; further ones meet a full disk. */
  short: 4,
  /** The process is stopped just before the call. */
  stop: 5,
  /** The process is killed just before the call. */
  kill: 6,
  /** A write takes half of what it was given, and the process is killed. */
  torn: 7,
})

/** As it stands in the file: see `struct control` in shim.c. */
const size = 256
const at = { kind: 0, at: 4, times: 8, calls: 12, struck: 16, name: 20, path: 48 }
const forEver = 0x7fffffff

/** @typedef {keyof typeof kinds} Kind */
/** @typedef {{ readonly calls: number, readonly struck: number, readonly name: string, readonly path: string }} Seen */

/** The file by which a program under the shim is told what fails. */
export class Control {
  /** @param {string} path */
  constructor(path) {
    this.path = path
    this.fd = openSync(path, 'a+', 0o600)
    closeSync(this.fd)
    this.fd = openSync(path, 'r+')
    this.disarm()
  }

  /** The nth call from now on fails so, counted from 1; and so do as many in all as `times` says. @param {Kind} kind @param {number} nth @param {number} times */
  arm(kind, nth, times = 1) {
    const bytes = Buffer.alloc(size)
    bytes.writeInt32LE(kinds[kind], at.kind)
    bytes.writeInt32LE(nth, at.at)
    bytes.writeInt32LE(Math.min(times, forEver), at.times)
    writeSync(this.fd, bytes, 0, size, 0)
  }

  /** Nothing fails any more; gives what happened since it was armed. @returns {Seen} */
  disarm() {
    const seen = this.seen()
    writeSync(this.fd, Buffer.alloc(size), 0, size, 0)
    return seen
  }

  /** @returns {Seen} */
  seen() {
    const bytes = Buffer.alloc(size)
    readSync(this.fd, bytes, 0, size, 0)
    /** @param {number} from @param {number} to */
    const text = (from, to) => {
      const all = bytes.toString('utf8', from, to)
      return all.slice(0, all.indexOf('\0'))
    }
    return {
      calls: bytes.readInt32LE(at.calls),
      struck: bytes.readInt32LE(at.struck),
      name: text(at.name, at.path),
      path: text(at.path, size),
    }
  }

  close() {
    closeSync(this.fd)
  }
}
