import { adviceOn } from '../checkpoints/errors/restore-conflict.js'
import { conflictsOf } from '../checkpoints/plan-entry.js'
import { hasTag } from '../events/errors/tagged.js'
import type { EventId } from '../events/event.js'
import type { MoveOptions, MovePlan, MoveResult, Session } from '../session/api.js'
import type { Context } from './context.js'
import { drawPlan, type PlanRow, planRows } from './draw-plan.js'
import { Usage } from './errors/usage.js'
import { short } from './names.js'
import type { Options } from './options.js'
import { counted } from './quantity.js'
import { loadWidths } from './width.js'

type Choice = Pick<MoveOptions, 'onConflict' | 'outside'>

/** What the options say about files that are not simply restored. */
export const choiceOf = (options: Options): Choice => {
  const [force, keep] = [options.flag('force'), options.flag('keep')]
  if (force && keep) throw new Usage('--force and --keep exclude each other', '', 'give one of them')
  return {
    ...(force ? { onConflict: 'force' as const } : {}),
    ...(keep ? { onConflict: 'keep' as const } : {}),
    ...(options.flag('outside') ? { outside: true } : {}),
  }
}

/** Words about files say nothing where no file moves. */
export const mustMoveCode = (options: Options, how: string): void => {
  const given = ['force', 'keep', 'outside'].find((name) => options.flag(name))
  if (given !== undefined) throw new Usage(`--${given} is about files, and none would move`, '', how)
}

/** One way to move: what it would do, and doing it. */
export interface Move<T extends MoveResult> {
  readonly plan: (session: Session) => Promise<MovePlan>
  readonly run: (session: Session) => Promise<T>
}

/** Moves. Where files stand in its way nothing was changed: the plan is printed, and the error goes on its way (exit 5). */
export const moved = async <T extends MoveResult>(
  context: Context,
  session: Session,
  move: Move<T>,
): Promise<T> => {
  try {
    return await move.run(session)
  } catch (error) {
    if (hasTag(error, 'RestoreConflict')) await printPlan(context, await move.plan(session), 'stays')
    throw error
  }
}

/** What a move would do. `stays`: it was refused, so the head is not spoken of as if it moved. */
export const printPlan = async (
  context: Context,
  { entries, head }: MovePlan,
  how: 'would' | 'stays',
): Promise<void> => {
  const { json, out, colours } = context
  const rows = planRows(entries)
  if (json) return out.json({ plan: rows, head })
  await loadWidths(rows.map(({ path }) => path))
  for (const line of drawPlan(rows, colours)) await out.line(line)
  if (how === 'would') await out.line(outcome(entries, head))
}

/** The member `files` of an answer, where code moved. */
export const filesOf = (files: MoveResult['files']): { readonly files?: readonly PlanRow[] } =>
  files.length === 0 ? {} : { files: planRows(files) }

const outcome = (entries: MovePlan['entries'], head: EventId): string => {
  const conflicts = conflictsOf({ entries })
  if (conflicts.length > 0)
    return `nothing would be changed because of ${counted(conflicts.length, 'conflict')}: ${adviceOn(conflicts)}`
  return `the head would move to ${short(head)}${entries.length === 0 ? '; no file changes' : ''}`
}

/** The new head, and the files that changed or were left as they are though the target has them otherwise. */
export const printMoved = async (context: Context, { head, files }: MoveResult): Promise<void> => {
  const { json, out } = context
  if (json) return out.json({ head, ...filesOf(files) })
  await out.line(headLine(head))
  await printFiles(context, files)
}

const headLine = (head: EventId): string => `head is now ${short(head)}`

export const printFiles = async ({ out, colours }: Context, files: MoveResult['files']): Promise<void> => {
  const rows = planRows(files)
  await loadWidths(rows.map(({ path }) => path))
  for (const line of drawPlan(rows, colours, true)) await out.line(line)
}
