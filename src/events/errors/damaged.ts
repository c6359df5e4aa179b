import { Tagged } from './tagged.js'

/** What is wrong at one place of a log. `line` counts from 1; `offset` and `bytes` are in bytes. */
export interface Damage {
  readonly kind: DamageKind
  readonly line: number
  readonly offset: number
  readonly bytes: number
  readonly detail: string
  /** Of a gap: how many lines after it hang on what it lost. */
  readonly orphans?: number
}

/**
 * - `undecodable`: bytes before a line that proves itself, which no `recovered` event names
 * - `gap`: the same, closable by the next append (two NUL bytes in a row, in the last 4 MiB). Stops a reader only where
 *   lines after it hang on what it lost
 * - `torn-tail`: bytes after the last line that proves itself
 * - `missing-parent`, `note-parent`, `second-root`, `no-root`: a link that INV-6 forbids
 * - `payload`: a line proves itself but is no JSON, or its members differ from its envelope
 * - `duplicate-id`: an id stands twice (read as it stands, reported by verify)
 * - `lost-tail`: the event a cache or a writer knew as last is nowhere in the log
 * - `blob`: a value that a line names is missing, or is not what its name says
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
  | 'blob'

/** Reads stop at damage (INV-4), and writes are refused, until someone asks to read past it or repairs it. */
export class Damaged extends Tagged {
  readonly tag = 'Damaged'
  constructor(
    readonly path: string,
    readonly damage: Damage,
  ) {
    super(
      `damaged log (${damage.kind}): ${damage.detail}`,
      [path, placeOf(damage)].filter((part) => part !== '').join(', '),
      hintFor(damage),
    )
  }
}

/** Line and byte as far as they are known and say something: a blob has neither, a single line's reader counts none. */
export const placeOf = ({ kind, line, offset }: Damage): string =>
  kind === 'blob' ? '' : line === 0 ? `byte ${offset}` : `line ${line}, byte ${offset}`

const hintFor = ({ kind, bytes }: Damage): string => {
  // Of an empty or missing log there is nothing to read.
  if (kind === 'no-root' && bytes === 0) return 'take the log from a backup'
  return hints[kind] ?? 'read past it with --salvage, or make it usable with `coppice repair`'
}

/** What to do where it is not the usual. */
const hints: Partial<Record<DamageKind, string>> = {
  gap: 'keep what hangs on what was lost with `coppice repair`, or read it with --salvage; an append would leave it out',
  'no-root': 'read what there is with --salvage, and take the log from a backup',
  'second-root': 'read what there is with --salvage, and take the log from a backup',
  blob: 'copy it from a backup, or read past it with --salvage',
}
