import type { Run } from '../context.js'
import { readerOf } from '../names.js'
import { printLine } from './log.js'

/** Follows the log until it is interrupted, or whoever reads the output has gone. */
export const run: Run = async (context, [name = ''], options) => {
  const reader = await readerOf(context, name)
  const named = options.text('after')
  const after = named === undefined ? {} : { after: await reader.resolve(named) }
  const { signal } = new AbortController()
  for await (const lines of reader.log.watch(reader.id, { ...after, signal }))
    for (const line of lines) await printLine(context, line)
  return undefined
}
