import type { Problem, Verified } from '../../session/api.js'
import { since } from '../age.js'
import type { Context, Run } from '../context.js'
import { exit } from '../exit.js'
import { refsOf, short } from '../names.js'
import { inMegabytes, progress } from '../progress.js'
import { bytes, counted } from '../quantity.js'
import { safeLine } from '../safe-text.js'

export const run: Run = async (context, names, options) => {
  const time = options.text('since')
  const from = time === undefined ? undefined : since(time, context.now())
  const store = await context.store()
  const refs = await refsOf(context, names)
  const shown = progress(context, 'verifying')
  const verified = await store.verify(refs.length === 0 ? undefined : refs.map(({ id }) => id), {
    progress: inMegabytes(shown),
    ...(from === undefined ? {} : { since: from }),
  })
  shown.end()
  if (context.json) await context.out.json(verified)
  else for (const line of report(context, verified)) await context.out.line(line)
  return verified.problems.length > 0 ? exit.damaged : exit.done
}

const report = ({ colours }: Context, verified: Verified): readonly string[] => [
  ...verified.problems.map((problem) => `${colours.red('problem')}   ${described(problem)}`),
  ...verified.diverged.map(
    ({ session, ends }) =>
      `${colours.magenta('diverged')}  ${short(session)}: ${ends.map(short).join(', ')} (nothing is lost: see \`coppice tree ${short(session)}\`)`,
  ),
  [
    `${counted(verified.sessions, 'session')}, ${counted(verified.events, 'event')}, ${bytes(verified.bytes)}`,
    ...(verified.redacted > 0 ? [`${verified.redacted} redacted`] : []),
    verified.problems.length === 0
      ? colours.green('every hash and link holds')
      : colours.red(counted(verified.problems.length, 'problem')),
  ].join(': '),
]

const described = ({ session, kind, line, offset, detail }: Problem): string =>
  [
    ...(session === '' ? [] : [session]),
    ...(line === null ? [] : [`line ${line}`]),
    ...(offset === null ? [] : [`byte ${offset}`]),
    `${kind}: ${safeLine(detail)}`,
  ].join(', ')
