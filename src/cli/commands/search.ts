import type { SearchHit, Store } from '../../session/api.js'
import type { Context, Run } from '../context.js'
import { type HitDrawing, hitLine, sessionLine } from '../draw-hits.js'
import { Usage } from '../errors/usage.js'
import { Problems } from '../problems.js'
import { progress } from '../progress.js'
import { everyScript, loadWidths } from '../width.js'

export const run: Run = async (context, [text = ''], options) => {
  if (text.trim() === '') throw new Usage('nothing to search for', 'the text is empty', 'give a text')
  const role = options.text('role')
  const limit = options.count('limit')
  const all = options.flag('all')
  const store = await context.store()
  const problems = new Problems()
  const shown = progress(context, 'indexing')
  const hits = store.search({
    text,
    ...(all ? {} : { workspace: context.workspace }),
    ...(role === undefined ? {} : { role }),
    ...(limit === undefined ? {} : { limit }),
    progress: shown.at,
    report: problems.report,
  })
  const found = context.json ? await printJson(context, hits) : await print(context, store, hits, shown.end)
  shown.end()
  if (found === 0 && !context.json) await context.warn(nothing(context, all))
  return problems.tell(context)
}

const nothing = ({ storePath, workspace }: Context, all: boolean): string =>
  all
    ? `not found: in ${storePath}`
    : `not found: in ${storePath}, workspace ${workspace}: try --all, or check -w`

const printJson = async (context: Context, hits: AsyncIterable<SearchHit>): Promise<number> => {
  let found = 0
  const bare = async function* () {
    for await (const { session, event, at, role, excerpt } of hits) {
      found++
      yield { session, event, at, role, excerpt }
    }
  }
  await context.out.jsonArray(bare())
  return found
}

/** Each hit as soon as it is found; the session's title stands above those of one session. */
const print = async (
  context: Context,
  store: Store,
  hits: AsyncIterable<SearchHit>,
  begin: () => void,
): Promise<number> => {
  const { out, colours } = context
  const drawing: HitDrawing = { columns: out.columns, colours, now: context.now() }
  const titles = new Map<string, string>()
  let last = ''
  let found = 0
  for await (const hit of hits) {
    if (found++ === 0) {
      begin()
      await loadWidths(everyScript)
    }
    if (hit.session !== last) {
      const title = titles.get(hit.session) ?? (await (await store.reader(hit.session)).row()).title
      titles.set(hit.session, title)
      await out.line(sessionLine(hit.session, title, drawing))
    }
    last = hit.session
    await out.line(hitLine(hit, drawing))
  }
  return found
}
