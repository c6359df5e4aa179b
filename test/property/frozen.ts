/** Freezes a value and all that it holds, so that whoever changes it throws. Keeps its own stack. */
export const deepFreeze = <T>(value: T): T => {
  const stack: unknown[] = [value]
  for (let next = stack.pop(); stack.length > 0 || next !== undefined; next = stack.pop()) {
    if (typeof next !== 'object' || next === null || Object.isFrozen(next)) continue
    Object.freeze(next)
    stack.push(...Object.values(next))
  }
  return value
}
