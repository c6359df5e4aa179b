import { shownPath } from '../checkpoints/shown-path.js'
import type { CheckpointRow, SessionReader, UndoPoint } from '../session/api.js'
import { age } from './age.js'
import type { Context } from './context.js'
import { short } from './names.js'
import { safeLine } from './safe-text.js'
import { clipped, loadWidths } from './width.js'

type Failed = Pick<CheckpointRow, 'id' | 'at' | 'reason' | 'failed'>
type Unread = Pick<CheckpointRow, 'id' | 'at' | 'reason' | 'unread'>

/** The checkpoints that lack something, or all. */
interface Lacking {
  readonly failed: readonly Failed[]
  readonly unread: readonly Unread[]
}

const lackingIn = (rows: readonly CheckpointRow[]): Lacking => ({
  failed: rows
    .filter(({ failed }) => failed !== null)
    .map(({ id, at, reason, failed }) => ({ id, at, reason, failed })),
  unread: rows
    .filter(({ unread }) => unread.length > 0)
    .map(({ id, at, reason, unread }) => ({
      id,
      at,
      reason,
      unread: unread.map(({ path, why }) => ({ path: shownPath(path), why })),
    })),
})

/** Where one can go back to, whether the code can too, and between them the checkpoints, and the files of some, that could not be taken. */
export const listTargets = async (
  context: Context,
  reader: SessionReader,
  all: boolean,
): Promise<undefined> => {
  const targets = await reader.undoTargets({ all })
  const lacking = lackingIn(await reader.checkpoints())
  if (context.json) {
    await context.out.json({ targets, ...lacking })
    return undefined
  }
  if (targets.length === 0) await context.warn(`nothing to undo: ${reader.id}`)
  await loadWidths(targets.map(({ text }) => text))
  for (const line of drawTargets(context, targets, lacking)) await context.out.line(line)
  return undefined
}

/** Id, age and the word about the code, with the blanks between. */
const before = 8 + 2 + 6 + 2 + 4 + 2

const drawTargets = (
  context: Context,
  targets: readonly UndoPoint[],
  { failed, unread }: Lacking,
): readonly string[] => {
  const { colours, out } = context
  const room = out.columns - before
  const when = (at: string): string => colours.dim(age(at, context.now()).padStart(6))
  const told = ({ id, at }: Pick<Failed, 'id' | 'at'>, what: string) => ({
    at,
    line: `${colours.dim(short(id))}  ${when(at)}  ${colours.red(clipped(safeLine(what), room + 6))}`,
  })
  const lines = [
    ...targets.map(({ id, text, at, restorable }) => ({
      at,
      line: `${colours.yellow(short(id))}  ${when(at)}  ${restorable ? colours.green('code') : colours.dim('   –')}  ${clipped(safeLine(text) || '(no text)', room)}`,
    })),
    ...failed.map((row) => told(row, `checkpoint failed: ${row.failed ?? ''}`)),
    ...unread.flatMap((row) => row.unread.map(({ path, why }) => told(row, `not recorded: ${path}: ${why}`))),
  ].sort((a, b) => (a.at < b.at ? -1 : a.at > b.at ? 1 : 0))
  return [...lines.map(({ line }) => line), ...reasons(targets).map((why) => colours.dim(why))]
}

/** Why the code cannot go back, each reason once. */
const reasons = (targets: readonly UndoPoint[]): readonly string[] => {
  const stuck = targets.filter(({ restorable }) => !restorable)
  return [...new Set(stuck.map(({ why }) => why ?? 'no code checkpoint'))].map(
    (why) => `–: the conversation alone goes back: ${safeLine(why)}`,
  )
}
