import { isAbsolute, resolve } from 'node:path'
import { shownPath } from '../../checkpoints/shown-path.js'
import type { CheckpointReason } from '../../checkpoints/take.js'
import type { LeftOut } from '../../events/file-record.js'
import type { CheckpointTaken } from '../../session/api.js'
import type { Context, Run } from '../context.js'
import { CheckpointFailed } from '../errors/checkpoint-failed.js'
import { exit } from '../exit.js'
import { withSession } from '../names.js'
import { counted } from '../quantity.js'
import { safeName } from '../safe-text.js'

/** Exit 1 where something that was asked for is in no checkpoint: a tool must know before it goes on. */
export const run: Run = async (context, [name = '', ...paths], options) => {
  // The parser lets only these through.
  const reason = options.text('reason') as CheckpointReason | undefined
  const absolute = paths.length === 0 ? undefined : paths.map((path) => resolve(context.cwd, path))
  const taken = await withSession(context, name, (session) =>
    session.checkpoint(absolute, reason === undefined ? {} : { reason }),
  )
  await print(context, { ...taken, refused: asGiven(taken.refused, absolute ?? [], paths) })
  if (taken.failed !== null) throw new CheckpointFailed(taken.failed, name)
  return taken.refused.length + taken.unread.length > 0 ? exit.failed : exit.done
}

const print = async (context: Context, taken: CheckpointTaken): Promise<void> => {
  const { json, out } = context
  const files = taken.files.map((record) => ({ ...record, path: shownPath(record.path) }))
  if (json) await out.json({ ...taken, files, unread: taken.unread.map(shown) })
  for (const { path, why } of [...taken.refused, ...taken.unread.map(shown)])
    await context.warn(`not recorded: ${safeName(path)}: ${why}`)
  if (json || taken.failed !== null) return
  const said = taken.id === null ? 'nothing changed' : taken.id
  await out.line(`${said}${files.length > 0 ? `  ${counted(files.length, 'file')}` : ''}`)
}

/** Refused paths are named as they were given, each of its names where one was given twice; those found in a folder, as all others. */
const asGiven = (
  refused: readonly LeftOut[],
  absolute: readonly string[],
  given: readonly string[],
): readonly LeftOut[] =>
  [...new Map(refused.map((left) => [left.path, left])).values()].flatMap(({ path, why }) => {
    const names = given.filter((_, i) => absolute[i] === path)
    if (names.length > 0) return [...new Set(names)].map((name) => ({ path: name, why }))
    return [{ path: isAbsolute(path) ? path : shownPath(path), why }]
  })

const shown = ({ path, why }: LeftOut): LeftOut => ({ path: shownPath(path), why })
