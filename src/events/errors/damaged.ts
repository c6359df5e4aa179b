import { Tagged } from './tagged.js'

/** What is wrong at one place of a log. `line` counts from 1; `offset` and `bytes` are in bytes. */
export interface Damage {
  readonly kind: DamageKind
  readonly line: number
  readonly offset: number
  readonly bytes: number
  readonly detail: string
}

/**
 * - `undecodable`: bytes before a line that proves itself, which no `recovered` event names
 * - `gap`: the same, closable by the next append (two NUL bytes in a row, in the last 4 MiB)
 * - `torn-tail`: bytes after the last line that proves itself
 * - `missing-parent`, `note-parent`, `second-root`, `no-root`: a link that INV-6 forbids
 * - `payload`: a line proves itself but is no JSON, or its members differ from its envelope
 * - `duplicate-id`: an id stands twice (read as it stands, reported by verify)
 * - `lost-tail`: the event a cache or a writer knew as last is nowhere in the log
 */
export type DamageKind =
  | 'undecodable'
  | 'gap'
  | 'torn-tail'
  | 'missing-parent'
  | 'note-parent'
  | 'second-root'
  | 'no-root'
  | 'payload'
  | 'duplicate-id'
  | 'lost-tail'

/** Reads stop at damage (INV-4), and writes are refused, until someone asks to read past it or repairs it. */
export class Damaged extends Tagged {
  readonly tag = 'Damaged'
  constructor(
    readonly path: string,
    readonly damage: Damage,
  ) {
    super(
      `damaged log (${damage.kind}): ${damage.detail}`,
      `${path}, line ${damage.line}, byte ${damage.offset}`,
      hints[damage.kind] ?? 'read past it with --salvage, or make it usable with `coppice repair`',
    )
  }
}

/** What to do where it is not the usual. */
const hints: Partial<Record<DamageKind, string>> = {
  gap: 'the next append closes it; to read past it now, use --salvage',
  'no-root': 'read what there is with --salvage, and take the log from a backup',
  'second-root': 'read what there is with --salvage, and take the log from a backup',
}
