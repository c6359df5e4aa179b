/** A stretch of a text that should not leave the machine: UTF-16 offsets, `end` exclusive. */
export interface Secret {
  readonly start: number
  readonly end: number
  /** What it seems to be: `github-token`, `password`, `private-key` … */
  readonly kind: string
}

/** What stands in a secret's place; the same for every secret of a kind. */
export const mark = (kind: string): string => `[redacted: ${kind}]`
