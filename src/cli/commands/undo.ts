import { Refused } from '../../events/errors/refused.js'
import type { EventId } from '../../events/event.js'
import type { SessionReader } from '../../session/api.js'
import { age } from '../age.js'
import type { Context, Run } from '../context.js'
import { notYet, Usage } from '../errors/usage.js'
import { readerOf, short, withSession } from '../names.js'
import type { Options } from '../options.js'
import { safe, safeLine } from '../safe-text.js'
import { clipped, loadWidths } from '../width.js'

/** `undo --json` without TARGET, see docs/CLI.md. */
interface Target {
  readonly id: EventId
  readonly text: string
  readonly at: string
  readonly checkpoint: EventId | null
  readonly restorable: boolean
  readonly why: string | null
}

export const run: Run = async (context, [name = '', named], options) => {
  checkOptions(options)
  const reader = await readerOf(context, name)
  if (named === undefined) return list(context, reader, options.flag('all'))
  const target = await reader.resolve(named)
  if (options.flag('dryRun')) return plan(context, reader, target)
  const { prompt } = await withSession(context, reader.id, (session) => session.undo(target))
  if (context.json) await context.out.json({ head: await reader.resolve('@'), prompt })
  else await context.out.line(safe(prompt))
  return undefined
}

const checkOptions = (options: Options): void => {
  if (['conversation', 'code', 'both'].filter((name) => options.flag(name)).length > 1)
    throw new Usage('--conversation, --code and --both exclude each other', '', 'give one of them')
  if (options.flag('force') && options.flag('keep'))
    throw new Usage('--force and --keep exclude each other', '', 'give one of them')
  if (options.flag('code')) throw notYet('code checkpoints (--code)')
}

const list = async (context: Context, reader: SessionReader, all: boolean): Promise<undefined> => {
  const targets = (await reader.undoTargets({ all })) as readonly Target[]
  const { json, out, colours, now } = context
  if (json) {
    await out.json({ targets })
    return undefined
  }
  if (targets.length === 0) await context.warn(`nothing to undo: ${reader.id}`)
  await loadWidths(targets.map(({ text }) => text))
  for (const { id, text, at } of targets) {
    const when = age(at, now()).padStart(6)
    await out.line(
      `${colours.yellow(short(id))}  ${colours.dim(when)}  ${clipped(safeLine(text) || '(no text)', out.columns - 18)}`,
    )
  }
  return undefined
}

/** What an undo would do: no code is tracked, so it moves the head alone. */
const plan = async (context: Context, reader: SessionReader, target: EventId): Promise<undefined> => {
  const targets = (await reader.undoTargets({ all: true })) as readonly Target[]
  const path = await reader.path({ at: target })
  const above = path.slice(
    0,
    path.findIndex(({ id }) => id === target),
  )
  const head = above.findLast(({ type, note }) => note !== true && type !== 'head')?.id
  if (head === undefined || !targets.some(({ id }) => id === target))
    throw new Refused(
      `${target} is no user message on this branch`,
      reader.id,
      'list the targets with `coppice undo SESSION`',
    )
  if (context.json) await context.out.json({ plan: [], head })
  else await context.out.line(`the head would move to ${short(head)}; no code is tracked`)
  return undefined
}
