import { join } from 'node:path'
import { StoreUnusable } from '../../events/errors/index.js'
import { logName } from '../../events/file-log/file-log.js'
import type { SessionRef } from '../api.js'
import { isDurable } from './durable.js'
import type { Home } from './home.js'
import { readIndex, rewriteIndex, type SavedFold } from './index-file.js'
import { workspaceLayout } from './layout.js'
import type { Place } from './places.js'
import { currentFold } from './saved-fold.js'

const isOfThisLog = (home: Home, folder: string, { session, stamp }: SavedFold): boolean => {
  try {
    return home.log(folder).stamp(session)?.identity === stamp.identity
  } catch {
    return false
  }
}

/**
 * Folds the named sessions anew and writes their rows; gives how many have one. A log that lost events is taken as it
 * stands. Rejects with StoreUnusable where the index cannot be written.
 */
export const reindex = async (
  home: Home,
  refs: readonly (SessionRef & { readonly place: Place })[],
): Promise<number> => {
  const byFolder = new Map<string, (typeof refs)[number][]>()
  for (const ref of refs) byFolder.set(ref.place.folder, [...(byFolder.get(ref.place.folder) ?? []), ref])
  let folded = 0
  for (const [folder, wanted] of byFolder) {
    const { index } = workspaceLayout(folder)
    const folds: SavedFold[] = []
    for (const { id } of wanted) {
      // A damaged log keeps no row: the list folds what it can of it, and says what is wrong.
      const fold = await currentFold(home.log(folder), id, undefined).catch(() => null)
      const path = join(workspaceLayout(folder).session(id), logName)
      if (fold !== null && (await isDurable(home.ports.fs, path, fold))) folds.push(fold)
    }
    // Others wrote meanwhile, and a redaction may have taken out what was folded before it.
    const current = folds.filter((fold) => isOfThisLog(home, folder, fold))
    folded += current.length
    try {
      const rows = new Map<string, SavedFold>(readIndex(home.ports.fs, index).rows)
      for (const { id } of wanted) rows.delete(id)
      for (const fold of current) rows.set(fold.session, fold)
      rewriteIndex(home.ports.fs, index, [...rows.values()], home.ports.random)
    } catch (error) {
      const why = (error as NodeJS.ErrnoException).code ?? (error as Error).message
      throw new StoreUnusable(
        `the index cannot be written (${why})`,
        index,
        'check its permissions and its disk',
        error,
      )
    }
  }
  return folded
}
