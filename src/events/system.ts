import { randomBytes } from 'node:crypto'
import { nodeFs } from './node-fs.js'
import type { Clock, Fs, Random } from './ports.js'

/** Where time, randomness and files come from (INV-10): a test puts its own in their place. */
export interface Ports {
  readonly fs: Fs
  readonly clock: Clock
  readonly random: Random
}

export const systemPorts: Ports = {
  fs: nodeFs,
  clock: { now: Date.now },
  random: { hex: (bytes) => randomBytes(bytes).toString('hex') },
}
