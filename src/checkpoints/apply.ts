import type { EventId } from '../events/event.js'
import type { FileRecord } from '../events/file-record.js'
import { RestoreConflict } from './errors/restore-conflict.js'
import { RestoreFailed } from './errors/restore-failed.js'
import type { Journal, Journals, Phase } from './journal.js'
import type { ObjectStore } from './objects/object-store.js'
import { type LeftAside, rollBack } from './roll-back.js'
import type { Step, Steps } from './steps.js'
import { allowing, swap, syncFolders } from './swap.js'
import type { WorkFs } from './work-fs.js'

export interface ApplyPorts {
  readonly work: WorkFs
  readonly store: ObjectStore
  readonly journals: Journals
}

/** The event that records a restore, stamped before the restore begins, and the way to append it. */
export interface RestoreEvent {
  readonly session: EventId
  readonly event: EventId
  /** Its exact line, without the newline. */
  readonly line: string
  /**
   * Appends the line. `false`: it is surely not in the log, and the files go back to what they were. A rejection says
   * nothing of that: the files stay, and the next open appends the line if it is not there.
   */
  readonly append: () => Promise<boolean>
}

/**
 * Applies a restore as a transaction: in the end every file is as planned and the event is in the log, or every file is as
 * it was. Rejects with RestoreConflict (a file changed since the plan) or RestoreFailed; a crash at any point is finished or
 * rolled back by `recover`.
 */
export const apply = async (
  ports: ApplyPorts,
  id: string,
  steps: Steps,
  restore: RestoreEvent,
): Promise<void> => {
  const { session, event, line } = restore
  const journal = (phase: Phase): Journal => ({ format: 1, id, session, event, line, phase, ...steps })
  let phase: Phase = 'staging'
  const reach = async (next: Phase): Promise<void> => {
    await ports.journals.write(journal(next))
    phase = next
  }
  try {
    await reach('staging')
    const targets = await stage(ports, steps)
    await reach('applying')
    await swap(ports.work, steps, ({ oid }) => targets.get(oid as string) as Uint8Array)
    await reach('applied')
  } catch (error) {
    throw await undone(ports, journal(phase), error)
  }
  const isRecorded = await restore.append().catch((error: unknown) => {
    throw new RestoreFailed(
      'it is not clear whether it was recorded',
      steps.steps[0]?.path ?? '',
      false,
      error,
    )
  })
  if (!isRecorded) throw await undone(ports, journal('applied'), new Error('it could not be recorded'))
  // The restore stands. What is left to clear away is cleared by the next open, if not now.
  await finish(ports, journal('applied')).catch(() => undefined)
}

/** Rolls back, and gives the error to throw. */
const undone = async (ports: ApplyPorts, journal: Journal, error: unknown): Promise<Error> => {
  const why = (error as Error).message
  let left: readonly LeftAside[]
  try {
    left = await rollBack(ports, journal)
  } catch (second) {
    return new RestoreFailed(`${why}; then ${(second as Error).message}`, '', false, error)
  }
  if (error instanceof RestoreConflict && left.length === 0) return error
  const aside = left.map(({ path, at }) => `what was ${path} is ${at}`).join(', ')
  return new RestoreFailed(aside === '' ? why : `${why}; ${aside}`, '', true, error)
}

/** Writes every new file under a name of its own, proved and synced: a full disk is met here. Gives the symlinks' targets. */
const stage = async (
  { work, store }: ApplyPorts,
  { steps }: Steps,
): Promise<ReadonlyMap<string, Uint8Array>> => {
  const targets = new Map<string, Uint8Array>()
  for (const { will, fresh } of steps) {
    if (will.kind === 'link') targets.set(will.oid as string, (await store.read(will.oid as string)).bytes)
    if (fresh !== null) await writeFresh(work, store, fresh, will)
  }
  return targets
}

const writeFresh = async (
  work: WorkFs,
  store: ObjectStore,
  path: string,
  { oid, mode }: FileRecord,
): Promise<void> => {
  const file = work.open(path, 'new')
  try {
    for await (const piece of store.stream(oid as string)) file.write(piece)
    file.chmod(mode as number)
    await file.sync()
  } finally {
    file.close()
  }
}

/** Clears away what waited aside, and folders that were left empty: the restore is in the log. */
export const finish = async ({ work, journals }: ApplyPorts, journal: Journal): Promise<void> => {
  for (const { aside } of journal.steps)
    if (aside !== null) allowing(['ENOENT', 'ENOTDIR'], () => work.unlink(aside))
  for (const folder of journal.emptied) allowing(mayStay, () => work.removeDir(folder))
  await syncFolders(work, folderNames(journal.steps))
  await journals.remove(journal.id)
}

/** An empty folder that cannot go is no harm: it is not empty, not ours to remove, or in use. */
const mayStay = ['ENOENT', 'ENOTEMPTY', 'EEXIST', 'ENOTDIR', 'EACCES', 'EPERM', 'EROFS', 'EBUSY']

const folderNames = (steps: readonly Step[]): readonly string[] => [
  ...new Set(steps.map(({ path }) => path.slice(0, Math.max(1, path.lastIndexOf('/'))))),
]
