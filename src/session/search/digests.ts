import { sha256 } from '../../events/id.js'
import type { LogStamp } from '../../events/log.js'

/** A log as the index names it (`<place>/<session>`), and as it stands. */
interface Stamped {
  readonly name: string
  readonly stamp: LogStamp
}

/** One hash for all logs of a place, by the place: the same only where each of them is the same, and none is more or less. */
export const digestsOf = (logs: Iterable<Stamped>): ReadonlyMap<string, string> => {
  const places = new Map<string, string[]>()
  for (const { name, stamp } of logs) {
    const place = name.slice(0, name.lastIndexOf('/'))
    const line = `${name} ${stamp.identity} ${stamp.bytes} ${stamp.modified}`
    const lines = places.get(place)
    if (lines === undefined) places.set(place, [line])
    else lines.push(line)
  }
  return new Map([...places].map(([place, lines]) => [place, sha256(lines.sort().join('\n'))]))
}

/** Whether the index says of these logs what they are; where they are all that the store has, of no others either. */
export const isSameDigest = (
  known: ReadonlyMap<string, string>,
  logs: readonly Stamped[],
  isAll: boolean,
): boolean => {
  const now = digestsOf(logs)
  return (
    (!isAll || known.size === now.size) && [...now].every(([place, digest]) => known.get(place) === digest)
  )
}
