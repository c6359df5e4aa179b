import type { Proved } from '../../checkpoints/prove.js'
import type { EventId } from '../../events/event.js'
import { hasCodeMark } from '../code/code-mark.js'
import { done } from '../code/done.js'
import type { Home } from './home.js'
import { workspaceLayout } from './layout.js'
import type { Place } from './places.js'

interface CodeProblem {
  readonly kind: 'checkpoint-missing' | 'checkpoint-damaged'
  readonly detail: string
}

/** Blobs that one run of `verify` has read already, by workspace. */
export type ProvedCode = Map<string, Proved>

/**
 * What a session's checkpoints lack. A session whose checkpoints have no branch here, and were never taken here, came without
 * its code (it was pulled, or imported): that is no damage, and `undo` says what cannot be restored. Where there is a branch,
 * all that it leads to must be there, and be what it was.
 */
export const codeProblems = async (
  home: Home,
  place: Place,
  { id, hasCode, proved }: { readonly id: EventId; readonly hasCode: boolean; readonly proved: ProvedCode },
): Promise<readonly CodeProblem[]> => {
  if (!hasCode) return []
  try {
    return await problemsOf(home, place, id, proved)
  } catch (error) {
    return [{ kind: 'checkpoint-damaged', detail: (error as Error).message }]
  }
}

const problemsOf = async (
  home: Home,
  place: Place,
  id: EventId,
  proved: ProvedCode,
): Promise<readonly CodeProblem[]> => {
  const { fs } = home.ports
  const { folder, code } = workspaceLayout(place.folder)
  const lost = (): readonly CodeProblem[] =>
    hasCodeMark(fs, folder, id)
      ? [
          {
            kind: 'checkpoint-missing',
            detail: `its checkpoints were taken here, and ${code} has no branch of it`,
          },
        ]
      : []
  if (fs.stat(code) === null) return lost()
  const known = proved.get(place.folder) ?? new Map()
  proved.set(place.folder, known)
  const { hasBranch, missing, damaged } = await done((await home.code(place)).checkpoints.verify(id, known))
  if (!hasBranch) return lost()
  return [
    ...missing.map((oid) => ({
      kind: 'checkpoint-missing' as const,
      detail: `the object ${oid} is not there`,
    })),
    ...damaged.map((oid) => ({
      kind: 'checkpoint-damaged' as const,
      detail: `the bytes of the object ${oid} are not what they were`,
    })),
  ]
}
