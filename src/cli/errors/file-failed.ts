import { Tagged } from '../../events/errors/tagged.js'

/** A file that the command line was given cannot be read or written. */
export class FileFailed extends Tagged {
  readonly tag = 'FileFailed'
  constructor(what: string, path: string, cause: unknown) {
    const { code, message } = cause as { code?: string; message?: string }
    super(`${what} (${code ?? message ?? cause})`, path, 'check the path and its permissions', { cause })
  }
}
