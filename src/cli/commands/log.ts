import * as E from 'fp-ts/lib/Either.js'
import { type Line, parseLine } from '../../events/line.js'
import type { Context, Run } from '../context.js'
import { damageReport } from '../damage-report.js'
import { eventLine } from '../event-line.js'
import { eventOf, readerOf, short } from '../names.js'
import { everyScript, loadWidths } from '../width.js'

export const run: Run = async (context, [name = ''], options) => {
  const reader = await readerOf(context, name)
  const at = await eventOf(reader, options.text('at'))
  const { report, finish } = damageReport(context, reader.id)
  for await (const lines of reader.backward({ ...at, salvage: options.flag('salvage'), report }))
    for (const line of lines) await printLine(context, line)
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
      : `${short(line.id)}  ${line.at}  ${line.type}: ${event.left}`,
  )
}
