import type { Tagged } from '../../events/errors/tagged.js'
import type { Freed } from '../../session/api.js'
import type { Context, Run } from '../context.js'
import { exit } from '../exit.js'
import { refsOf } from '../names.js'
import { progress } from '../progress.js'
import { bytes, counted } from '../quantity.js'
import { safeName } from '../safe-text.js'

interface Failed {
  readonly workspace: string
  readonly error: Tagged
}

/** A workspace whose checkpoints cannot be read is told (exit 1), and the others are packed all the same. */
export const run: Run = async (context, names, options) => {
  const dryRun = options.flag('dryRun')
  const store = await context.store()
  const refs = await refsOf(context, names)
  const failed: Failed[] = []
  const shown = progress(context, 'packing')
  const freed = await store.collect(refs.length === 0 ? undefined : refs.map(({ id }) => id), {
    dryRun,
    progress: shown.at,
    failed: (workspace, error) => void failed.push({ workspace, error }),
  })
  shown.end()
  await print(context, freed, failed, dryRun)
  return failed.length > 0 ? exit.failed : exit.done
}

const print = async (
  context: Context,
  freed: readonly Freed[],
  failed: readonly Failed[],
  dryRun: boolean,
): Promise<void> => {
  const { json, out } = context
  if (json)
    await out.json({
      freed,
      failed: failed.map(({ workspace, error }) => ({ workspace, reason: error.message })),
    })
  else for (const line of report(freed, dryRun)) await out.line(line)
  for (const { workspace, missing } of freed)
    if (missing.length > 0)
      await context.warn(
        `warning: ${counted(missing.length, 'object')} that checkpoints name ${missing.length === 1 ? 'is' : 'are'} not there: ${workspace}: see \`coppice verify\``,
      )
  for (const { workspace, error } of failed) await context.warn(`not packed: ${workspace}: ${error.message}`)
}

const report = (freed: readonly Freed[], dryRun: boolean): readonly string[] => {
  const saved = freed.reduce((sum, { before, after }) => sum + Math.max(0, before - after), 0)
  return [
    ...freed.map(
      ({ workspace, before, after, freedObjects }) =>
        `${bytes(before).padStart(9)} → ${bytes(after).padStart(9)}  ${counted(freedObjects, 'object')} ${dryRun ? 'would be freed' : 'freed'}  ${safeName(workspace)}`,
    ),
    `${bytes(saved)} ${dryRun ? 'would be freed' : 'freed'} in ${counted(freed.length, 'workspace')}`,
  ]
}
