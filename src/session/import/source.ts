import type { Format } from '../../formats/format.js'

/** A file to import, and as what. */
export interface Source {
  readonly format: Format
  readonly path: string
}
