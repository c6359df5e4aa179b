import { Seeded } from '../sim/random.js'

/** Where a number is drawn from many, these stand for all: the ends, and what lies between. */
const some = (count: number): readonly number[] =>
  count <= 6
    ? Array.from({ length: count }, (_, i) => i)
    : [...new Set([0, count >> 2, count >> 1, count - 2, count - 1])]

/** In place of chance: each question is answered as a path of choices says, and past its end by `otherwise`. */
class Choices extends Seeded {
  readonly taken: { readonly value: number; readonly of: number }[] = []

  constructor(
    readonly path: readonly number[],
    readonly otherwise: (of: number) => number,
  ) {
    super(0)
  }

  override below(count: number): number {
    if (count <= 1) return 0
    const values = some(count)
    return values[this.#choose(values.length)] as number
  }

  override chance(): boolean {
    return this.#choose(2) === 1
  }

  #choose(of: number): number {
    const value = this.path[this.taken.length] ?? this.otherwise(of)
    this.taken.push({ value, of })
    return value
  }
}

/** The next path in order; null after the last one. */
const after = (taken: Choices['taken']): readonly number[] | null => {
  const at = taken.findLastIndex(({ value, of }) => value + 1 < of)
  return at < 0 ? null : [...taken.slice(0, at).map(({ value }) => value), (taken[at]?.value ?? 0) + 1]
}

/**
 * Runs something once for every way that its questions can be answered, in order, up to half of `most`; where there are
 * more, as many again at random, among them all answered with the least, and with the most. Gives how many it ran, and
 * whether that was all.
 */
export const everyWay = async (
  most: number,
  seed: number,
  run: (seeded: Seeded) => Promise<void>,
): Promise<{ readonly ran: number; readonly isAll: boolean }> => {
  let path: readonly number[] | null = []
  let ran = 0
  for (; path !== null && ran < most / 2; ran++) {
    const choices: Choices = new Choices(path, () => 0)
    await run(choices)
    path = after(choices.taken)
  }
  if (path === null) return { ran, isAll: true }
  const seeded = new Seeded(seed)
  for (let i = 0; ran < most; i++, ran++) {
    const share = [1, 0.5, 0.9, 0.1][i % 4] as number
    await run(
      new Choices([], (of) =>
        i === 0 || seeded.chance(share) ? of - 1 - seeded.below(i === 0 ? 1 : of) : 0,
      ),
    )
  }
  return { ran, isAll: false }
}
