import { Tagged } from './tagged.js'

/** The log or store needs a newer Coppice: a newer format number, or an unknown type marked `required`. Never half-read. */
export class NewerFormat extends Tagged {
  readonly tag = 'NewerFormat'
  constructor(
    where: string,
    readonly needs: string,
  ) {
    super(`written by a newer version: needs ${needs}`, where, 'update coppice to read it')
  }
}
