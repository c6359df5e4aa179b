import { Tagged } from '../../events/errors/tagged.js'

/** A git object that should be there is not, or its bytes are not those that its name is the hash of. */
export class ObjectDamaged extends Tagged {
  readonly tag = 'ObjectDamaged'
  constructor(
    readonly oid: string,
    readonly path: string,
    how: 'missing' | 'damaged',
    cause?: unknown,
  ) {
    super(
      `the checkpoint object ${oid} is ${how}`,
      path,
      'look for it in a backup of that folder; the other checkpoints are not touched by it',
      { cause },
    )
  }
}
