import type { Run } from '../context.js'
import { damageReport } from '../damage-report.js'
import { eventOf, readerOf } from '../names.js'
import { safe } from '../safe-text.js'

type Format = 'openai' | 'anthropic' | 'plain'

/** Exactly what the model gets: JSON in a provider's shape, or plain text, which only a terminal gets made harmless. */
export const run: Run = async (context, [name = ''], options) => {
  const format = (options.text('format') ?? context.config.context?.format ?? 'openai') as Format
  const reader = await readerOf(context, name)
  const at = await eventOf(reader, options.text('at'))
  const { report, finish } = damageReport(context, reader.id)
  const found = await reader.context({ ...at, format, salvage: options.flag('salvage'), report })
  const { out } = context
  if (context.json || typeof found !== 'string') {
    if (Array.isArray(found)) await out.jsonArray(found)
    else await out.json(found)
  } else await out.line(out.isTerminal ? safe(found) : found)
  return finish()
}
