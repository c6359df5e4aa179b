import type { Gap } from '../event.js'
import { encodeLine, type Line } from '../line.js'
import type { FileHandle } from '../ports.js'
import { newline } from './constants.js'
import { hashOf } from './scan.js'
import type { Survey } from './survey.js'

/** What stands before an append's own lines: a newline where the last line lacks one, and the note that names what does not decode. */
export interface Recovery {
  readonly prefix: Buffer
  readonly note: Line | null
}

const noBytes = Buffer.alloc(0)

/**
 * Makes the `recovered` note for every torn tail and open gap of a surveyed log (INV-4). `back` counts from the note's
 * own first byte; a torn tail's bytes include the newline that is added to end it.
 */
export const recovery = (file: FileHandle, found: Survey, at: string): Recovery => {
  const prefix = found.endsInNewline ? noBytes : Buffer.of(newline)
  const open = found.junk.filter(({ kind }) => kind === 'torn-tail' || kind === 'gap')
  if (open.length === 0 || found.head === null) return { prefix, note: null }
  const noteAt = found.size + prefix.length
  const gaps = open.map(({ start, end, kind }): Gap => {
    const after = kind === 'torn-tail' ? prefix : noBytes
    return {
      back: noteAt - start,
      bytes: end - start + after.length,
      sha256: hashOf(file, start, end, after),
    }
  })
  const orphans = found.newOrphans.size === 0 ? {} : { orphans: [...found.newOrphans.values()] }
  const line = encodeLine({ parent: found.head.id, at, type: 'recovered', note: true }, { gaps, ...orphans })
  return { prefix, note: { ...line, offset: noteAt } }
}
