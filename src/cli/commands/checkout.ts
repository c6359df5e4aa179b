import type { MoveOptions, MoveResult } from '../../session/api.js'
import type { Run } from '../context.js'
import { choiceOf, type Move, moved, mustMoveCode, printMoved, printPlan } from '../moving.js'
import { readerOf, withSession } from '../names.js'

export const run: Run = async (context, [name = '', event = ''], options) => {
  const how: MoveOptions = { ...choiceOf(options), what: options.flag('code') ? 'both' : 'conversation' }
  if (!options.flag('code')) mustMoveCode(options, 'add --code')
  const reader = await readerOf(context, name)
  const to = await reader.resolve(event)
  const move: Move<MoveResult> = {
    plan: (session) => session.planCheckout(to, how),
    run: (session) => session.checkout(to, how),
  }
  await withSession(context, reader.id, async (session) => {
    if (options.flag('dryRun')) await printPlan(context, await move.plan(session), 'would')
    else await printMoved(context, await moved(context, session, move))
  })
  return undefined
}
