import { Tagged } from '../../events/errors/tagged.js'

/** config.toml cannot be read, or does not say what it may say. */
export class BadConfig extends Tagged {
  readonly tag = 'BadConfig'
}
