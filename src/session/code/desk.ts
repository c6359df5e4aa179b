import { pairsIn } from '../../checkpoints/diff.js'
import type { CheckpointPayload } from '../../checkpoints/take.js'
import type { Draft } from '../../events/draft.js'
import type { EventId } from '../../events/event.js'
import type { FileRecord } from '../../events/file-record.js'
import type { CodeDesk, CodeRequest } from './code-desk.js'
import { done } from './done.js'
import { changedByOthers, noticeOf } from './notice.js'
import type { WorkspaceCode } from './workspace-code.js'

/** Files to compare at most for a notice: a diff of more would not be small. */
const mostCompared = 100

export const deskOf = (code: WorkspaceCode, session: EventId): CodeDesk => ({
  take: async ({ notice, ...request }) => {
    const taken = await code.take({ ...request, session })
    const { checkpoint } = taken
    if (checkpoint === null) return { drafts: [], taken }
    const drafts: Draft[] = [{ type: 'checkpoint', ...checkpoint }]
    const told = notice ? await noticed(code, request, checkpoint) : null
    return { drafts: told === null ? drafts : [...drafts, told], taken }
  },
})

const noticed = async (
  code: WorkspaceCode,
  { known }: Pick<CodeRequest, 'known'>,
  checkpoint: CheckpointPayload,
): Promise<Draft | null> => {
  const changed = 'files' in checkpoint ? changedByOthers(known, checkpoint.files) : []
  if (changed.length === 0) return null
  return noticeOf(known, changed, changed.length > mostCompared ? null : await diffsOf(code, known, changed))
}

/** null where an object is missing or damaged: the paths say enough. */
const diffsOf = (code: WorkspaceCode, known: CodeRequest['known'], changed: readonly FileRecord[]) =>
  done(code.checkpoints.diff(pairsIn(known, changed))).catch(() => null)
