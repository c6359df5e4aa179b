import { type Damage, placeOf } from '../events/errors/damaged.js'
import type { SessionReader } from '../session/api.js'
import type { Context } from './context.js'
import { exit } from './exit.js'

export interface DamageReport {
  readonly report: (damage: Damage) => void
  /** Says on stderr what was found; gives the exit code: what the next append names is a warning. */
  readonly finish: () => Promise<number>
}

/**
 * Collects what a read met on its way (INV-4): the same place is told once, whoever met it. Where the index knows that the
 * log had another end, that is told too: the log alone cannot know what was cut off it.
 */
export const damageReport = (context: Context, reader: SessionReader): DamageReport => {
  const found = new Map<string, Damage>()
  return {
    report: (damage) => void found.set(`${damage.kind} ${damage.offset} ${damage.detail}`, damage),
    finish: async () => {
      const all = [...found.values()].sort((a, b) => a.offset - b.offset)
      // Of a log without a root it is said already that all is lost.
      const isGone = all.some(({ kind }) => kind === 'no-root')
      const lost = isGone ? null : await reader.lostTail(all.some(isWarning))
      for (const damage of all) await context.warn(described(damage, reader.id, lost !== null))
      if (lost !== null) await context.warn(`warning: ${lost.message}`)
      return all.every(isWarning) ? exit.done : exit.damaged
    },
  }
}

/** Bytes that the next append names, and on which no line hangs. */
const isWarning = ({ kind, orphans = 0 }: Damage): boolean =>
  kind === 'torn-tail' || (kind === 'gap' && orphans === 0)

const described = (damage: Damage, session: string, isTailLost: boolean): string => {
  const { kind, bytes, detail } = damage
  const place = [session, placeOf(damage)].filter((part) => part !== '').join(', ')
  if (!isWarning(damage)) {
    const isForBackup = kind === 'blob' || kind === 'no-root' || kind === 'second-root'
    const next = isForBackup ? 'take it from a backup' : 'make the log usable with `coppice repair`'
    return `skipped ${bytes} bytes (${kind}): ${place}: ${detail}; ${next}`
  }
  if (kind === 'gap')
    return `warning: gap: ${place}: ${bytes} bytes that are no event are ignored; the next append names them`
  return isTailLost
    ? `warning: torn tail: ${place}: ${bytes} bytes that are no event are ignored`
    : `warning: torn tail: ${place}: ${bytes} bytes of an unfinished write are ignored; the next append names them`
}
