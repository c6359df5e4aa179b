import type { PlanAction, PlanEntry } from '../checkpoints/plan-entry.js'
import { shownPath } from '../checkpoints/shown-path.js'
import type { Colours } from './context.js'
import { counted } from './quantity.js'
import { safeLine, safeName } from './safe-text.js'
import { padded, widthOf } from './width.js'

/** One file of a plan, as `--json` prints it (docs/CLI.md). */
export interface PlanRow {
  /** As people name it: relative to the workspace, or absolute outside of it. */
  readonly path: string
  readonly action: PlanAction
  /** Why it is a conflict, or is left as it is though the target differs; else null. */
  readonly why: string | null
  readonly outside: boolean
}

export const planRows = (entries: readonly PlanEntry[]): readonly PlanRow[] =>
  entries.map(({ path, action, why, outside }) => ({ path: shownPath(path), action, why, outside }))

/** Files that something is said about: they change, or stay though the target has them otherwise. */
const isTold = ({ action, why }: PlanRow): boolean => action !== 'keep' || why !== null

const actionWidth = 'conflict'.length
/** Longer paths push their reasons to the right. */
const mostOfPath = 48

/**
 * A plan as a person sees it: a line for each file that is told, and how many stay as they are. `isDone`: of what was done.
 * Safe to print; pure.
 */
export const drawPlan = (rows: readonly PlanRow[], colours: Colours, isDone = false): readonly string[] => {
  const told = rows.filter(isTold)
  const names = told.map(({ path }) => safeName(path))
  const hasReasons = told.some(({ why }) => why !== null)
  const width = hasReasons ? Math.min(mostOfPath, Math.max(0, ...names.map(widthOf))) : 0
  const rest = rows.length - told.length
  return [
    ...told.map(({ action, why, outside }, i) => {
      const reason = why === null ? '' : `  ${colours.dim(safeLine(why))}`
      // A kept file outside says so itself.
      const place = outside && action !== 'keep' ? `  ${colours.dim('outside the workspace')}` : ''
      const name = names[i] ?? ''
      const said = reason + place
      return `${toneOf(action, colours)(padded(isDone ? done[action] : action, actionWidth))}  ${said === '' ? name : padded(name, width)}${said}`
    }),
    ...(rest > 0
      ? [
          colours.dim(
            `${counted(rest, 'tracked file')} ${rest === 1 ? 'stays as it is' : 'stay as they are'}`,
          ),
        ]
      : []),
  ]
}

const done: Readonly<Record<PlanAction, string>> = {
  create: 'created',
  change: 'changed',
  delete: 'deleted',
  keep: 'left',
  conflict: 'conflict',
}

const toneOf = (action: PlanAction, colours: Colours): ((text: string) => string) =>
  ({
    create: colours.green,
    change: colours.yellow,
    delete: colours.red,
    keep: colours.dim,
    conflict: (text: string) => colours.bold(colours.red(text)),
  })[action]
