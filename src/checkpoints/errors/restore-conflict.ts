import { Tagged } from '../../events/errors/tagged.js'

/** What stood in the way of a restore: nothing was changed. */
export class RestoreConflict extends Tagged {
  readonly tag = 'RestoreConflict'
  constructor(readonly conflicts: readonly { readonly path: string; readonly why: string }[]) {
    const [first, ...more] = conflicts
    super(
      `${first?.path} would be overwritten (${first?.why})${more.length > 0 ? ` and ${more.length} more` : ''}`,
      '',
      'nothing was changed: go on with --force to restore these files too, or with --keep to leave them',
    )
  }
}
