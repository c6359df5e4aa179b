import type { Failure } from './run.js'
import { play } from './run.js'
import type { Step } from './step.js'

export interface Shrunk {
  readonly steps: readonly Step[]
  readonly failure: Failure
}

/** The most runs that shrinking may take. */
const patience = 600

/**
 * Fewer and plainer steps that break the same law: whole stretches are left out, then single steps, then what a step
 * waits for is made plainer. The seed stays.
 */
export const shrink = async (
  seed: number,
  steps: readonly Step[],
  failure: Failure,
  begins: (seed: number) => void,
): Promise<Shrunk> => {
  let best: Shrunk = { steps, failure }
  let left = patience
  const holds = async (candidate: readonly Step[]): Promise<boolean> => {
    if (left-- <= 0) return false
    begins(seed)
    const { failure: found } = await play(seed, candidate)
    if (found === null || found.law !== failure.law) return false
    best = { steps: candidate, failure: found }
    return true
  }
  await holds(steps.slice(0, failure.step + 1))
  for (let size = best.steps.length >> 1; size >= 1; size = size === 1 ? 0 : Math.max(1, size >> 1))
    for (let at = 0; at < best.steps.length; )
      if (!(await holds([...best.steps.slice(0, at), ...best.steps.slice(at + size)]))) at += size
  for (let at = 0; at < best.steps.length; at++)
    for (const plain of plainer(best.steps[at] as Step)) await holds(best.steps.with(at, plain))
  return best
}

const plainer = (step: Step): readonly Step[] => {
  const { fault, turns } = step
  const one = { ...step, turns: -1 }
  const steps: Step[] = turns === -1 || step.kind === 'fault' ? [] : [one]
  if (step.process > 0) steps.push({ ...step, process: 0 })
  if (fault !== undefined && fault.times > 1) steps.push({ ...step, fault: { ...fault, times: 1 } })
  return steps
}
