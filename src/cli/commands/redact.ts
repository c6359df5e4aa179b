import type { Redacted, SessionReader } from '../../session/api.js'
import type { Run } from '../context.js'
import { Usage } from '../errors/usage.js'
import { readerOf, refOf, short } from '../names.js'
import { counted } from '../quantity.js'
import { safeName } from '../safe-text.js'

export const run: Run = async (context, [name = '', ...events], options) => {
  const detect = options.flag('detect')
  const dryRun = options.flag('dryRun')
  if (events.length === 0 && !detect)
    throw new Usage('redact needs to know what', '', 'name events (see `coppice log`), or give --detect')
  const reason = options.text('reason')
  const { id } = await refOf(context, name)
  const ids = await resolved(await readerOf(context, id), events)
  const store = await context.store()
  const done = await store.redact(id, {
    events: ids,
    detect,
    dryRun,
    ...(reason === undefined ? {} : { reason }),
  })
  if (context.json) await context.out.json(jsonOf(done))
  else for (const line of report(done, id, dryRun)) await context.out.line(line)
  return undefined
}

const resolved = async (reader: SessionReader, names: readonly string[]): Promise<readonly string[]> => {
  const ids: string[] = []
  for (const name of names) ids.push(await reader.resolve(name))
  return ids
}

const jsonOf = ({ redacted, hasCheckpoints, ...done }: Redacted): object => ({
  redacted: redacted.length,
  events: redacted,
  ...done,
  oldCopies: done.oldCopies.map(({ kind, path }) => ({ kind, path })),
  checkpoints: hasCheckpoints,
})

/** Never what was found, only where and of which kind. */
function* report(done: Redacted, id: string, dryRun: boolean): Generator<string> {
  for (const { event, type, kinds } of done.found) yield `${short(event)}  ${type}  ${tally(kinds)}`
  for (const { event } of done.staying)
    yield `${short(event)} is the session's first event and stays: to be rid of it, delete the session and purge the archive`
  const copies =
    done.followed.length === 0 ? '' : ` (${done.followed.length} of them because they held a copy)`
  yield `${counted(done.redacted.length, 'event')} ${dryRun ? 'would be ' : ''}redacted${copies}`
  if (done.redacted.length > 0) yield* leftOver(done, id, dryRun)
}

/** Where the same may still stand. */
function* leftOver(done: Redacted, id: string, dryRun: boolean): Generator<string> {
  if (done.archived !== null)
    yield `the old log is in the archive: \`coppice archive --purge\` removes it: ${safeName(done.archived)}`
  for (const { kind, path } of done.oldCopies)
    yield `an older log (${kind}) in the archive may hold it too: ${safeName(path)}`
  for (const { session, archived, events } of done.elsewhere)
    yield `session ${short(session)}${archived ? ' in the archive' : ''} holds ${events.length} of these events too: ${
      archived
        ? 'purge it'
        : `\`coppice redact ${short(session)} ${events.slice(0, 3).map(short).join(' ')}${events.length > 3 ? ' …' : ''}\``
    }`
  if (done.hasCheckpoints)
    yield `the code checkpoints of ${short(id)} were not touched, and may hold it too: see \`coppice checkpoints ${short(id)}\``
  if (!dryRun) yield 'reports and files that were exported before are not known here: look for them yourself'
}

const tally = (kinds: readonly string[]): string => {
  const counts = new Map<string, number>()
  for (const kind of kinds) counts.set(kind, (counts.get(kind) ?? 0) + 1)
  return [...counts].map(([kind, count]) => (count === 1 ? kind : `${kind} ×${count}`)).join(', ')
}
