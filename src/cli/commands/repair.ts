import type { Run } from '../context.js'
import { refOf } from '../names.js'
import { counted } from '../quantity.js'
import { safeLine } from '../safe-text.js'

export const run: Run = async (context, [name = '']) => {
  const store = await context.store()
  const { id } = await refOf(context, name)
  const { kept, lost, lostTail } = await store.repair(id)
  if (context.json) {
    await context.out.json({ kept, lost, lostTail })
    return undefined
  }
  await context.out.line(
    `${counted(kept, 'event')} kept, ${lost.length} lost; the damaged log is in the archive`,
  )
  for (const one of lost) await context.out.line(`lost: ${safeLine(JSON.stringify(one))}`)
  if (lostTail !== null)
    await context.out.line(
      `lost: ${lostTail}, the last event that the index knew of: nothing of it is provable`,
    )
  return undefined
}
