import type { MoveResult } from '../../session/api.js'
import type { Run } from '../context.js'
import { choiceOf, type Move, moved, printMoved, printPlan } from '../moving.js'
import { withSession } from '../names.js'

export const run: Run = async (context, [name = ''], options) => {
  const choice = choiceOf(options)
  const move: Move<MoveResult> = {
    plan: (session) => session.planRedo(choice),
    run: (session) => session.redo(choice),
  }
  await withSession(context, name, async (session) => {
    if (options.flag('dryRun')) await printPlan(context, await move.plan(session), 'would')
    else await printMoved(context, await moved(context, session, move))
  })
  return undefined
}
