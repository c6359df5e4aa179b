import * as E from 'fp-ts/lib/Either.js'
import { eventsOf } from '../../events/event-of.js'
import { type Line, parseLine } from '../../events/line.js'
import type { Context, Run } from '../context.js'
import { damageReport } from '../damage-report.js'
import { eventLine } from '../event-line.js'
import { eventOf, readerOf, short } from '../names.js'
import { safeLine } from '../safe-text.js'
import { everyScript, loadWidths } from '../width.js'

export const run: Run = async (context, [name = ''], options) => {
  const reader = await readerOf(context, name)
  const { report, finish } = damageReport(context, reader)
  const view = { salvage: options.flag('salvage'), report }
  const at = await eventOf(reader, options.text('at'), view)
  for await (const lines of reader.backward({ ...view, ...at })) {
    // A line that is no JSON stops it here, or, in salvage, is told and not printed.
    const whole = new Set(eventsOf(lines, reader.id, view).map(({ id }) => id))
    for (const line of lines) if (whole.has(line.id)) await printLine(context, line)
  }
  return finish()
}

/** With --json the event exactly as its line (INV-1: what is hashed is what is shown). */
export const printLine = async ({ json, out, colours }: Context, line: Line): Promise<void> => {
  if (json) {
    await out.write(line.bytes)
    await out.write('\n')
    return
  }
  const event = parseLine(line)
  await loadWidths(everyScript)
  await out.line(
    E.isRight(event)
      ? eventLine(event.right, out.columns, colours)
      : `${short(line.id)}  ${line.at}  ${line.type}: ${safeLine(event.left)}`,
  )
}
