import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { EventId } from '../../events/event.js'
import { stateHash } from '../../projections/state-hash.js'
import type { SessionReader, SessionRow, Store } from '../../session/api.js'
import { importSources } from '../../session/import.js'
import { openStore } from '../../session/store/store.js'
import { sessionTable } from '../commands/list.js'
import type { Context } from '../context.js'
import { drawTree } from '../draw-tree.js'
import { short } from '../names.js'
import { bytes, counted } from '../quantity.js'
import { safeLine, safeName } from '../safe-text.js'
import { everyScript, loadWidths } from '../width.js'
import { material } from './material.js'
import { Stage } from './stage.js'

/**
 * What `npm start` shows: other agents' sessions taken into a store of their own in a temporary folder, listed, drawn,
 * turned into a model's context, undone and redone, and proved. Changes nothing but that folder.
 */
export const tour = async (context: Context): Promise<void> => {
  const stage = new Stage(context)
  await loadWidths(everyScript)
  const folder = await mkdtemp(join(tmpdir(), 'coppice-demo-'))
  const store = await openStore(folder)
  await stage.title(
    'Coppice',
    'Every conversation of every coding agent: kept, never overwritten, and yours to rewind.',
  )
  try {
    await takeOver(context, stage, store)
    const rows = await store.list({ sub: false })
    await list(context, stage, rows)
    const row = richest(rows)
    if (row === undefined) return
    const reader = await store.reader(row.session)
    await draw(context, stage, reader)
    await showContext(context, stage, reader)
    await undoAndRedo(context, stage, store, reader)
    await prove(context, stage, store)
    await next(context, stage, folder, row.session)
  } finally {
    store.close()
  }
}

const takeOver = async (context: Context, stage: Stage, store: Store): Promise<void> => {
  const { colours } = context
  await stage.step(
    'Sessions of other agents on this machine',
    'Each agent keeps its conversations in a format of its own. Coppice reads them, and leaves them as they are.',
    'discover',
  )
  const { sources, said } = await material(context)
  for (const line of said) await stage.say(safeName(line))
  await stage.step(
    'Taking them over',
    'Every record becomes an event in an append-only log. What has no place in the model is kept beside it, not dropped.',
    'import auto PATH…',
  )
  const { imported, failed } = await importSources(store, sources, {
    workspace: context.workspace,
    dryRun: false,
  })
  const events = imported.reduce((sum, row) => sum + row.new, 0)
  await stage.say(`${colours.green('✓')} ${counted(imported.length, 'session')}, ${counted(events, 'event')}`)
  for (const { source, reason } of failed.slice(0, 3))
    await stage.say(`${colours.red('✗')} ${safeName(source)}: ${safeLine(reason)}`)
  const again = await importSources(store, sources, { workspace: context.workspace, dryRun: false })
  const added = again.imported.reduce((sum, row) => sum + row.new, 0)
  await stage.say(
    `${colours.green('✓')} imported once more: ${counted(added, 'new event')}, so it can run as often as you like`,
  )
}

const list = async ({ colours, now }: Context, stage: Stage, rows: readonly SessionRow[]): Promise<void> => {
  await stage.step(
    'All of them in one list',
    'Whichever agent they come from. Listing reads no conversation, so it stays fast.',
    'list --all',
  )
  await stage.show(sessionTable(rows, { all: true, now: now(), columns: stage.columns, colours }), 12)
}

/** The session that has most to show: branches first, then length, within reason. */
const richest = (rows: readonly SessionRow[]): SessionRow | undefined => {
  const weight = (row: SessionRow): number => Math.min(row.branches, 20) * 1000 + Math.min(row.events, 999)
  return rows.toSorted((a, b) => weight(b) - weight(a))[0]
}

const draw = async (context: Context, stage: Stage, reader: SessionReader): Promise<void> => {
  await stage.step(
    'A conversation is a tree',
    'Going back and asking again starts a branch. The branch that was left stays, and can be returned to.',
    `tree ${short(reader.id)}`,
  )
  await stage.show(await treeOf(context, stage, reader), 30)
}

const treeOf = async (
  { colours, now }: Context,
  stage: Stage,
  reader: SessionReader,
): Promise<readonly string[]> => {
  const { title } = await reader.row()
  return drawTree(await reader.tree(), { columns: stage.columns, colours, now: now(), title })
}

const showContext = async ({ colours }: Context, stage: Stage, reader: SessionReader): Promise<void> => {
  await stage.step(
    'Exactly what the model would get',
    'Ready to send: summaries in place of what they cover, every tool call followed by its result. Any program can use it.',
    `context ${short(reader.id)}`,
  )
  const sent = await reader.context()
  const lines = sent.map((message) => {
    const { role, content } = message
    const calls = 'tool_calls' in message ? message.tool_calls : undefined
    const text = safeLine(
      typeof content === 'string' ? content : content == null ? '' : JSON.stringify(content),
    )
    const called = calls === undefined ? '' : colours.blue(`→ ${counted(calls.length, 'call')}`)
    const said = [stage.clip(text, 20), called].filter((part) => part !== '').join(' ')
    return `${colours.magenta(role.padEnd(9))} ${said}`
  })
  await stage.show(lines, 10)
  await stage.say(
    colours.dim(`${counted(sent.length, 'message')}, ${bytes(Buffer.byteLength(JSON.stringify(sent)))}`),
  )
}

const undoAndRedo = async (
  context: Context,
  stage: Stage,
  store: Store,
  reader: SessionReader,
): Promise<void> => {
  const targets = await reader.undoTargets()
  const target = targets.at(-1)
  if (target === undefined) return
  const { colours } = context
  await stage.step(
    'Undo, then redo',
    'An undo is one more event. Nothing is removed, so it can itself be undone.',
    `undo ${short(reader.id)} ${short(target.id)}`,
  )
  const before = await seen(reader)
  const session = await store.open(reader.id)
  try {
    await session.undo(target.id)
    const undone = await seen(reader)
    await stage.say(stage.clip(`taken back: “${safeLine(target.text)}”`))
    await stage.say(
      `messages for the model: ${before.messages} before, ${undone.messages} now. The branch that was left stays:`,
    )
    for (const line of (await treeOf(context, stage, reader)).slice(-5)) await stage.say(line)
    await session.redo()
  } finally {
    session.close()
  }
  const after = await seen(reader)
  await stage.say(
    after.hash === before.hash
      ? `${colours.green('✓')} redone: the context is the same as before, ${colours.yellow(after.hash.slice(0, 16))}`
      : `${colours.red('✗')} redone, but the context differs`,
  )
}

const seen = async (reader: SessionReader): Promise<{ readonly messages: number; readonly hash: string }> => {
  const context = await reader.context()
  return { messages: context.length, hash: stateHash(context) }
}

const prove = async ({ colours }: Context, stage: Stage, store: Store): Promise<void> => {
  await stage.step(
    'Proving all of it',
    'Each event carries a hash over itself and all that came before: one changed byte anywhere would show here.',
    'verify',
  )
  const { sessions, events, bytes: size, problems } = await store.verify()
  const what = `${counted(sessions, 'session')}, ${counted(events, 'event')}, ${bytes(size)}`
  if (problems.length === 0) await stage.say(`${colours.green('✓')} ${what}: every hash and link holds`)
  for (const { session, detail } of problems.slice(0, 5))
    await stage.say(`${colours.red('✗')} ${short(session)}: ${safeLine(detail)}`)
}

const next = async (
  { colours, program }: Context,
  stage: Stage,
  folder: string,
  session: EventId,
): Promise<void> => {
  await stage.step('What to try next', `The store of this tour stays in ${folder}`)
  const tries = [
    [`show ${short(session)}`, 'read the conversation'],
    [`log ${short(session)}`, 'every event, newest first'],
    [`undo ${short(session)}`, 'where one could go back to'],
    [`fork ${short(session)}`, 'go on from here in a session of its own'],
    ['stats --all', 'tokens and cost'],
  ]
  await stage.say(`export COPPICE_STORE=${folder}`)
  for (const [command = '', why = ''] of tries)
    await stage.say(`${program} ${command.padEnd(16)} ${colours.dim(`# ${why}`)}`)
  await stage.say('')
  await stage.say('and for your own sessions, kept in ~/.coppice:')
  await stage.say(`${program} --store ~/.coppice import auto ~/.claude/projects`)
  await stage.say('')
}
