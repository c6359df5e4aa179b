import { join } from 'node:path'
import type { EventId } from '../../events/event.js'
import type { Fs } from '../../events/ports.js'

/**
 * An empty file in a session's folder: its checkpoints were taken in this store. A session that came from elsewhere without
 * its code has none, so a branch that is not there is known to be lost, or never to have been here.
 */
const markOf = (workspaceFolder: string, session: EventId): string => join(workspaceFolder, session, 'code')

/** Nothing but a warning depends on it, so it is not synced, and what fails is no matter. */
export const markCode = (fs: Fs, workspaceFolder: string, session: EventId): void => {
  try {
    const path = markOf(workspaceFolder, session)
    if (fs.stat(path) === null) fs.open(path, 'new').close()
  } catch {
    // The next process tries again.
  }
}

export const hasCodeMark = (fs: Fs, workspaceFolder: string, session: EventId): boolean =>
  fs.stat(markOf(workspaceFolder, session)) !== null
