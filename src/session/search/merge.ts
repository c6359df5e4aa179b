import type { SearchHit } from '../api.js'
import type { Stream } from './streams.js'

/**
 * The hits of many sessions, newest first, reading each no further than it must: the stream that may hold the newest goes
 * on finding, until it has that hit at hand.
 */
export async function* merged(streams: readonly Stream[]): AsyncGenerator<SearchHit> {
  // The next one last.
  const waiting = streams.filter(({ isOver }) => !isOver).sort((a, b) => order(b, a))
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    if (next.isReady) yield next.take().hit
    else await next.find()
    if (!next.isOver) insert(waiting, next)
  }
}

/** Below 0: `a` comes first. Of one time, what still has to be found comes first, so that the order hangs on no reading. */
const order = (a: Stream, b: Stream): number => {
  if (a.newest !== b.newest) return a.newest > b.newest ? -1 : 1
  if (a.isReady !== b.isReady) return a.isReady ? 1 : -1
  return a.source.session + a.source.name < b.source.session + b.source.name ? -1 : 1
}

const insert = (waiting: Stream[], stream: Stream): void => {
  let low = 0
  let high = waiting.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if (order(waiting[middle] as Stream, stream) > 0) low = middle + 1
    else high = middle
  }
  waiting.splice(low, 0, stream)
}
