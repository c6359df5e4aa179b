import type { Run } from '../context.js'
import { Usage } from '../errors/usage.js'
import { short } from '../names.js'
import { safeName } from '../safe-text.js'

export const run: Run = async (context, _args, options) => {
  const keep = options.count('keep')
  if (keep === undefined) throw new Usage('prune needs to know how many stay', '', 'give --keep N')
  const dryRun = options.flag('dryRun')
  const store = await context.store()
  const skipped: { readonly id: string; readonly why: string }[] = []
  const pruned = await store.prune(keep, {
    dryRun,
    skipped: ({ id }, why) => void skipped.push({ id, why }),
    ...(options.flag('all') ? {} : { workspace: context.workspace }),
  })
  for (const { id, why } of skipped) await context.warn(`warning: not pruned: session ${id}: ${why}`)
  if (context.json) {
    await context.out.json({ pruned: pruned.map(({ id }) => id) })
    return undefined
  }
  for (const { id, workspace } of pruned) await context.out.line(`${short(id)}  ${safeName(workspace)}`)
  await context.out.line(
    dryRun ? `${pruned.length} would go to the archive` : `${pruned.length} went to the archive`,
  )
  return undefined
}
