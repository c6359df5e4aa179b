import type { Damage } from '../events/errors/damaged.js'
import type { Context } from './context.js'
import { exit } from './exit.js'

export interface DamageReport {
  readonly report: (damage: Damage) => void
  /** Says on stderr what was found; gives the exit code: a torn tail alone is a warning. */
  readonly finish: () => Promise<number>
}

/** Collects what a read met on its way (INV-4): the same place is told once, whoever met it. */
export const damageReport = (context: Context, session: string): DamageReport => {
  const found = new Map<string, Damage>()
  return {
    report: (damage) => void found.set(`${damage.kind} ${damage.offset}`, damage),
    finish: async () => {
      const all = [...found.values()].sort((a, b) => a.offset - b.offset)
      for (const damage of all) await context.warn(described(damage, session))
      return all.every(({ kind }) => kind === 'torn-tail') ? exit.done : exit.damaged
    },
  }
}

const described = ({ kind, line, offset, bytes, detail }: Damage, session: string): string => {
  const place = `${session}, line ${line}, byte ${offset}`
  if (kind === 'torn-tail')
    return `warning: torn tail: ${place}: ${bytes} bytes of an unfinished write are ignored; the next append names them`
  return `skipped ${bytes} bytes (${kind}): ${place}: ${detail}; make the log usable with \`coppice repair\``
}
