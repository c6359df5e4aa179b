import type { Run } from '../context.js'
import { damageReport } from '../damage-report.js'
import { drawTranscript } from '../draw-transcript.js'
import { eventOf, readerOf } from '../names.js'
import { everyScript, loadWidths } from '../width.js'

export const run: Run = async (context, [name = ''], options) => {
  const reader = await readerOf(context, name)
  const { report, finish } = damageReport(context, reader)
  const view = { salvage: options.flag('salvage'), report }
  const at = await eventOf(reader, options.text('at'), view)
  const shown = await reader.messages({ ...view, ...at, all: options.flag('all') })
  const transcript = options.flag('reveal') ? (await context.store()).reveal(shown) : shown
  const { json, out, colours } = context
  if (json) await out.jsonArray(transcript.messages)
  else {
    await loadWidths(everyScript)
    for (const line of drawTranscript(transcript, { columns: out.columns, colours })) await out.line(line)
  }
  return finish()
}
