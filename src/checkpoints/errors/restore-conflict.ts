import { Tagged } from '../../events/errors/tagged.js'

export interface Conflict {
  /** As people name it: relative to the workspace, or absolute. */
  readonly path: string
  readonly why: string
  /** Whether `--force` settles it. */
  readonly forcible: boolean
}

/** What stood in the way of a restore: nothing was changed. */
export class RestoreConflict extends Tagged {
  readonly tag = 'RestoreConflict'
  constructor(readonly conflicts: readonly Conflict[]) {
    const [first, ...more] = conflicts
    super(
      `${first?.path} would be overwritten (${first?.why})${more.length > 0 ? ` and ${more.length} more` : ''}`,
      '',
      `nothing was changed: ${adviceOn(conflicts)}`,
    )
  }
}

/** Which word settles them. */
export const adviceOn = (conflicts: readonly Pick<Conflict, 'forcible'>[]): string => {
  const forcible = conflicts.filter((conflict) => conflict.forcible)
  if (forcible.length === conflicts.length)
    return 'go on with --force to restore these files too, or with --keep to leave them'
  return forcible.length === 0
    ? 'go on with --keep to leave it so'
    : 'go on with --keep to leave them; --force does not settle them all'
}
