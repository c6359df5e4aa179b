import type { PlainMessage } from '../../projections/shapes.js'
import type { Run } from '../context.js'
import { damageReport } from '../damage-report.js'
import { eventOf, readerOf } from '../names.js'
import { plainContext } from '../plain-context.js'
import { safe } from '../safe-text.js'

type Format = 'openai' | 'anthropic' | 'plain'

/** Exactly what the model gets: JSON in a provider's shape, or plain text, which only a terminal gets made harmless. */
export const run: Run = async (context, [name = ''], options) => {
  const format = (options.text('format') ?? context.config.context?.format ?? 'openai') as Format
  const reader = await readerOf(context, name)
  const { report, finish } = damageReport(context, reader)
  const view = { salvage: options.flag('salvage'), report }
  const at = await eventOf(reader, options.text('at'), view)
  const found = await reader.context({ ...view, ...at, format })
  const { out } = context
  if (format === 'plain' && !context.json)
    for (const text of plainContext(found as readonly PlainMessage[]))
      await out.line(out.isTerminal ? safe(text) : text)
  else if (Array.isArray(found)) await out.jsonArray(found)
  else await out.json(found)
  return finish()
}
