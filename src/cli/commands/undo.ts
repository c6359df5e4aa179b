import type { MoveOptions, Undone } from '../../session/api.js'
import type { Context, Run } from '../context.js'
import { planRows } from '../draw-plan.js'
import { Usage } from '../errors/usage.js'
import { choiceOf, filesOf, type Move, moved, mustMoveCode, printFiles, printPlan } from '../moving.js'
import { readerOf, withSession } from '../names.js'
import type { Options } from '../options.js'
import { counted } from '../quantity.js'
import { safe, safeName } from '../safe-text.js'
import { listTargets } from '../undo-list.js'

export const run: Run = async (context, [name = '', named], options) => {
  const how = howOf(options)
  const reader = await readerOf(context, name)
  if (named === undefined) return listTargets(context, reader, options.flag('all'))
  const target = await reader.resolve(named)
  const move: Move<Undone> = {
    plan: (session) => session.planUndo(target, how),
    run: (session) => session.undo(target, how),
  }
  await withSession(context, reader.id, async (session) => {
    if (options.flag('dryRun')) await printPlan(context, await move.plan(session), 'would')
    else await print(context, await moved(context, session, move), how.what === 'code')
  })
  return undefined
}

const parts = ['conversation', 'code', 'both'] as const

const howOf = (options: Options): MoveOptions => {
  const given = parts.filter((name) => options.flag(name))
  if (given.length > 1)
    throw new Usage('--conversation, --code and --both exclude each other', '', 'give one of them')
  const [what] = given
  if (what === 'conversation') mustMoveCode(options, 'leave out --conversation')
  return { ...choiceOf(options), ...(what === undefined ? {} : { what }) }
}

/**
 * The prompt that was taken back, and it alone on stdout, to be edited and sent again. What became of the files goes to stderr
 * beside it; with --code no prompt was taken back, so that they are the answer.
 */
const print = async (context: Context, undone: Undone, isCodeAlone: boolean): Promise<void> => {
  const { json, out } = context
  const { head, files } = undone
  const prompt = isCodeAlone ? null : undone.prompt
  if (json) return out.json({ head, prompt, ...filesOf(files) })
  if (prompt === null) return printFiles(context, files)
  await out.line(safe(prompt))
  for (const line of told(files)) await context.warn(line)
}

/** What became of the files, in a few words: those that were left are named. */
const told = (files: Undone['files']): readonly string[] => {
  const rows = planRows(files)
  const changed = rows.filter(({ action }) => action !== 'keep')
  const left = rows.filter(({ action, why }) => action === 'keep' && why !== null)
  return [
    ...(changed.length > 0 ? [`${counted(changed.length, 'file')} restored`] : []),
    ...left.map(({ path, why }) => `left as it is: ${safeName(path)}: ${why}`),
  ]
}
