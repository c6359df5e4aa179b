import type { Context, Run } from '../context.js'
import { type Facts, isFault } from '../doctor/facts.js'
import { type Finding, findingsOf, type State } from '../doctor/findings.js'
import { gather } from '../doctor/gather.js'
import { exit } from '../exit.js'
import { counted } from '../quantity.js'
import { safeName } from '../safe-text.js'

/** Looks at everything once. Exit 4 where data are damaged, 1 where something else is bad. */
export const run: Run = async (context) => {
  const facts = await gather(context)
  const findings = findingsOf(facts)
  const state = worst(findings)
  if (context.json) await context.out.json({ state, findings })
  else for (const line of screen(context, findings)) await context.out.line(line)
  if (state !== 'bad') return exit.done
  return isDamaged(facts) ? exit.damaged : exit.failed
}

const worst = (findings: readonly Finding[]): State =>
  (['bad', 'warn'] as const).find((state) => findings.some((finding) => finding.state === state)) ?? 'ok'

const isDamaged = ({ verified, use }: Facts): boolean =>
  (verified !== null && !isFault(verified) && verified.problems.length > 0) ||
  (use !== null && isFault(use) && use.tag === 'ObjectDamaged')

const screen = ({ colours }: Context, findings: readonly Finding[]): readonly string[] => {
  const width = Math.max(...findings.map(({ check }) => check.length))
  const marks: Readonly<Record<State, string>> = {
    ok: colours.green('ok  '),
    warn: colours.yellow('warn'),
    bad: colours.red('bad '),
  }
  const indent = ' '.repeat('ok  '.length + width + 4)
  return [
    ...findings.flatMap(({ check, state, says, next }) => [
      `${marks[state]}  ${check.padEnd(width)}  ${safeName(says)}`,
      ...(next === null ? [] : [`${indent}${colours.dim('→')} ${safeName(next)}`]),
    ]),
    '',
    summary(findings, colours),
  ]
}

const summary = (findings: readonly Finding[], colours: Context['colours']): string => {
  const count = (wanted: State): number => findings.filter(({ state }) => state === wanted).length
  const [bad, warnings] = [count('bad'), count('warn')]
  if (bad + warnings === 0) return colours.green('all is well')
  return [
    ...(bad > 0 ? [colours.red(`${bad} bad`)] : []),
    ...(warnings > 0 ? [colours.yellow(counted(warnings, 'warning'))] : []),
  ].join(', ')
}
