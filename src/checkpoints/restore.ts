import { basename, dirname, join } from 'node:path'
import type { EventId } from '../events/event.js'
import { type CodeState, sameContent } from '../events/file-record.js'
import type { Random } from '../events/ports.js'
import { type ApplyPorts, apply, type RestoreEvent } from './apply.js'
import { RestoreConflict } from './errors/restore-conflict.js'
import { RestoreFailed } from './errors/restore-failed.js'
import { Looker, type Seen } from './look.js'
import { planRestore } from './plan.js'
import { type Choice, conflictsOf, isActing, type Plan, type PlanEntry } from './plan-entry.js'
import { shownPath } from './shown-path.js'
import { stepsOf } from './steps.js'
import { type CheckpointPayload, type TakePorts, takePaths } from './take.js'
import type { TreePath } from './tree-path.js'
import { wantedAt } from './wanted.js'

export interface RestorePorts extends TakePorts, ApplyPorts {
  readonly random: Random
}

export interface PreviewRequest {
  /** The code state where the session stands, and at the node to go to. */
  readonly current: CodeState
  readonly target: CodeState
  readonly choice: Choice
}

export interface RestoreRequest extends PreviewRequest {
  readonly session: EventId
  /** Appends the safety checkpoint's event, and gives its id. Called only where there is something to secure. */
  readonly secured: (safety: CheckpointPayload) => Promise<EventId>
  /** Stamps the event that records the restore; its line goes into the journal. `safety`: null where nothing was new. */
  readonly event: (
    plan: Plan,
    safety: EventId | null,
  ) => Omit<RestoreEvent, 'session'> | Promise<Omit<RestoreEvent, 'session'>>
}

interface Looked {
  readonly plan: Plan
  readonly disk: ReadonlyMap<TreePath, Seen>
}

/** What a restore would do now. Changes nothing. */
export const preview = async (ports: TakePorts, request: PreviewRequest): Promise<Plan> =>
  (await lookAndPlan(ports, request)).plan

const lookAndPlan = async (
  ports: TakePorts,
  { current, target, choice }: PreviewRequest,
): Promise<Looked> => {
  const wanted = wantedAt(current, target)
  const disk = await new Looker(ports, { deep: true }).lookAll(wanted.keys())
  const foldsCase = foldsCaseAt(ports)
  return { plan: planRestore({ current, target, wanted, disk, foldsCase, choice }), disk }
}

/** Whether the workspace is found under its name in the other case too. */
const foldsCaseAt = ({ work, workspace }: TakePorts): boolean => {
  const name = basename(workspace)
  const swapped = name.toLowerCase() === name ? name.toUpperCase() : name.toLowerCase()
  const other = swapped === name ? null : work.lstat(join(dirname(workspace), swapped))
  return other !== null && other.ino === work.lstat(workspace)?.ino
}

/**
 * Puts the files of a node back (docs/CHECKPOINTS.md): plan, safety checkpoint, journal, apply, event. Nothing of the user's is changed
 * before its present bytes are durable in a checkpoint (INV-9). Rejects with RestoreConflict or RestoreFailed. Whoever calls
 * holds the restore lock.
 */
export const restore = async (ports: RestorePorts, request: RestoreRequest): Promise<Plan> => {
  if (ports.journals.pending().length > 0)
    throw new RestoreFailed('an earlier restore was cut off and not yet ended', ports.workspace, false)
  const { plan, disk } = await lookAndPlan(ports, request)
  const conflicts = conflictsOf(plan)
  if (conflicts.length > 0)
    throw new RestoreConflict(
      conflicts.map(({ path, why, forcible }) => ({ path: shownPath(path), why: why ?? '', forcible })),
    )
  const safety = await secure(ports, request, plan)
  const { session } = request
  const event = { session, ...(await request.event(plan, safety)) }
  if (!plan.entries.some(isActing)) {
    if (!(await event.append())) throw new RestoreFailed('it could not be recorded', '', true)
    return plan
  }
  const { work, workspace } = ports
  const id = ports.random.hex(6)
  const isFolder = (path: string) => work.lstat(path)?.kind === 'folder'
  const modeOf = (path: string) => work.lstat(path)?.mode ?? 0o755
  await apply(ports, id, stepsOf({ plan, disk, workspace, id, isFolder, modeOf }), event)
  return plan
}

/**
 * The safety checkpoint: of every file that the plan changes, its bytes as they are now, durable. And of every other one that
 * is not as last recorded, or that only the target's branch tracks, so that a way back leads to just this.
 */
const secure = async (
  ports: RestorePorts,
  { session, current, secured: append }: RestoreRequest,
  plan: Plan,
): Promise<EventId | null> => {
  const acting = plan.entries.filter(isActing)
  const isOther = ({ path, was, isRead }: PlanEntry): boolean => {
    const known = current.files.get(path)?.last
    return isRead && (known === undefined || !sameContent(known, was))
  }
  const secured = plan.entries.filter((entry) => isActing(entry) || isOther(entry))
  const paths = new Set(secured.map(({ path }) => path))
  if (paths.size === 0) return null
  const request = { session, reason: 'safety', known: current } as const
  const taken = await takePaths(ports, request, { paths, refused: [], scan: null, doubt: null, all: true })
  const { checkpoint } = taken
  if (checkpoint !== null && 'failed' in checkpoint)
    throw new RestoreFailed(`no safety checkpoint: ${checkpoint.failed}`, ports.workspace, true)
  const missing = acting.find(({ was }) => was.oid !== undefined && !ports.store.has(was.oid))
  if (missing !== undefined)
    throw new RestoreConflict([{ path: shownPath(missing.path), why: 'changed just now', forcible: true }])
  return checkpoint === null ? null : append(checkpoint)
}
