// @ts-check
import { readFileSync } from 'node:fs'

/** The most memory that this process ever held (MiB): VmHWM, since what getrusage says includes the parent's. */
export function peakMiB() {
  try {
    const found = /VmHWM:\s+(\d+) kB/.exec(readFileSync('/proc/self/status', 'utf8'))
    return Number(found?.[1]) / 1024
  } catch {
    return process.resourceUsage().maxRSS / 1024
  }
}

/** A process that does nothing. */
export const bare = () => ({})
