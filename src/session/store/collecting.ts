import { Tagged } from '../../events/errors/index.js'
import type { Freed } from '../api.js'
import { done } from '../code/done.js'
import type { Home } from './home.js'
import { workspaceLayout } from './layout.js'
import type { Place } from './places.js'

export interface CollectingOptions {
  readonly dryRun?: boolean
  readonly progress?: (done: number, total: number) => void
  readonly failed?: (workspace: string, error: Tagged) => void
}

/** Frees what no session's checkpoints lead to, and packs the rest; where one workspace fails the others go on. */
export const collectCode = async (
  home: Home,
  places: readonly Place[],
  { dryRun = false, progress, failed }: CollectingOptions,
): Promise<readonly Freed[]> => {
  const each = [...new Map(places.map((place) => [place.key, place])).values()]
  const { fs } = home.ports
  const withCode = each.filter(({ folder }) => fs.stat(workspaceLayout(folder).code) !== null)
  const freed: Freed[] = []
  for (const [i, place] of withCode.entries()) {
    progress?.(i, withCode.length)
    try {
      const { checkpoints } = await home.code(place)
      freed.push({ ...(await done(checkpoints.collect({ dryRun }))), workspace: place.path })
    } catch (error) {
      if (!(error instanceof Tagged) || failed === undefined) throw error
      failed(place.path, error)
    }
  }
  progress?.(withCode.length, withCode.length)
  return freed
}
