import { appendLaws } from './append-laws.js'
import { blobLaws } from './blob-laws.js'
import type { Law } from './law.js'
import { readLaws } from './read-laws.js'

/** What every implementation of `EventLog` must do, whatever it keeps its lines in. Each law is given a log of its own. */
export const eventLogLaws: readonly Law[] = [...appendLaws, ...readLaws, ...blobLaws]
