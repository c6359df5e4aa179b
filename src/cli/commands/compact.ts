import type { Compacted } from '../../session/api.js'
import type { Run } from '../context.js'
import { Usage } from '../errors/usage.js'
import { textOf } from '../input-file.js'
import { readerOf, short, withSession } from '../names.js'

export const run: Run = async (context, [name = ''], options) => {
  const file = options.text('summary')
  if (file === undefined) throw new Usage('compact needs a summary', '', 'give --summary FILE (- is stdin)')
  const named = options.text('through')
  const reader = await readerOf(context, name)
  const through = named === undefined ? undefined : await reader.resolve(named)
  const summary = (await textOf(context, file)).trimEnd()
  if (summary === '') throw new Usage('the summary is empty', file, 'a compaction needs a text')
  const input = { summary, trigger: 'manual', ...(through === undefined ? {} : { through }) }
  const done = await withSession(context, reader.id, (session) => session.compact(input))
  if (context.json) await context.out.json(done)
  else await context.out.line(said(done))
  return undefined
}

const said = ({ id, through, tokensBefore, tokensAfter }: Compacted): string =>
  `${id}: covers everything through ${short(through)}, about ${tokensBefore} tokens before, ${tokensAfter} after`
