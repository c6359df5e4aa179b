/** A list that grows at its end without being copied, so that a fold stays pure and costs one cell an event. */
export interface Chain<T> {
  readonly last: T
  readonly before: Chain<T> | null
  readonly length: number
}

export const push = <T>(chain: Chain<T> | null, item: T): Chain<T> => ({
  last: item,
  before: chain,
  length: (chain?.length ?? 0) + 1,
})

/** First to last. */
export const toArray = <T>(chain: Chain<T> | null): T[] => {
  const items = new Array<T>(chain?.length ?? 0)
  for (let cell = chain; cell !== null; cell = cell.before) items[cell.length - 1] = cell.last
  return items
}

/** Last to first, as far as the caller goes. */
export function* backward<T>(chain: Chain<T> | null): Generator<T> {
  for (let cell = chain; cell !== null; cell = cell.before) yield cell.last
}
