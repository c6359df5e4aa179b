import { Tagged } from './tagged.js'

/** fdatasync failed: what was written may not be on disk. The next append copies the proved bytes to a new file first. */
export class SyncFailed extends Tagged {
  readonly tag = 'SyncFailed'
  constructor(
    readonly path: string,
    cause: unknown,
  ) {
    super(`the disk did not take the write (${code(cause)})`, path, 'check the disk, then try again', {
      cause,
    })
  }
}

/** A write failed or was cut short: at most a fragment is left, which the next append names (INV-2). */
export class WriteFailed extends Tagged {
  readonly tag = 'WriteFailed'
  constructor(
    readonly path: string,
    cause: unknown,
  ) {
    super(`not written (${code(cause)})`, path, 'free some space or check the permissions, then try again', {
      cause,
    })
  }
}

const code = (cause: unknown): string => {
  const error = cause as { code?: unknown; message?: unknown }
  return String(error?.code ?? error?.message ?? cause)
}
