import * as E from 'fp-ts/lib/Either.js'
import type { TaskEither } from 'fp-ts/lib/TaskEither.js'
import type { Damage } from '../../src/events/errors/index.js'
import { fileLog } from '../../src/events/file-log/file-log.js'
import { encodeLine, type Line } from '../../src/events/line.js'
import type { EventLog } from '../../src/events/log.js'
import type { Clock, Fs, Random } from '../../src/events/ports.js'

/** A clock that stands at an hour before the lines of `messageOn`, and randomness that counts. */
export const stillClock: Clock = { now: () => Date.UTC(2026, 11, 1, 8) }
export const countingRandom = (from = 0): Random => {
  let last = from
  return { hex: (bytes) => (++last).toString(16).padStart(bytes * 2, '0') }
}

/** A log on an `Fs`: each is a process of its own. */
let processes = 0
export const logOn = (fs: Fs, folder = '/store'): EventLog =>
  fileLog({ fs, clock: stillClock, random: countingRandom(1000 * ++processes), folder })

export const rootLine = (nonce = '1'): Line =>
  encodeLine(
    { parent: null, at: '2026-12-01T09:00:00.000Z', type: 'session', note: false },
    { format: 1, nonce, workspace: '/w', cwd: '/w' },
  )

/** A time so many milliseconds after the root's. */
export const timeAt = (ms: number): string => new Date(Date.UTC(2026, 11, 1, 9) + ms).toISOString()

export const messageOn = (parent: string, ms: number, content = `message ${ms}`): Line =>
  encodeLine({ parent, at: timeAt(ms), type: 'message', note: false }, { role: 'user', content })

export const noteOn = (parent: string, ms: number): Line =>
  encodeLine({ parent, at: timeAt(ms), type: 'status', note: true }, { status: 'processing' })

/** So many messages, each on the one before. */
export const chainOn = (parent: string, from: number, count: number, content?: string): Line[] => {
  const lines: Line[] = []
  for (let i = 0; i < count; i++) lines.push(messageOn(lines[i - 1]?.id ?? parent, from + i, content))
  return lines
}

export const bytesOf = (...lines: readonly Line[]): Buffer =>
  Buffer.concat(lines.flatMap(({ bytes }) => [bytes, Buffer.from('\n')]))

export const allOf = async (batches: AsyncIterable<readonly Line[]>): Promise<Line[]> => {
  const lines: Line[] = []
  for await (const batch of batches) lines.push(...batch)
  return lines
}

export const idsOf = (lines: readonly Line[]): string[] => lines.map(({ id }) => id)

export const right = async <L, A>(task: TaskEither<L, A>): Promise<A> => {
  const result = await task()
  if (E.isLeft(result)) throw result.left
  return result.right
}

export const left = async <L, A>(task: TaskEither<L, A>): Promise<L> => {
  const result = await task()
  if (E.isRight(result)) throw new Error(`it was not refused, but gave ${JSON.stringify(result.right)}`)
  return result.left
}

/** Reads a log, and what it says of bytes that it passed over; `error` where it stopped. */
export const readAll = async (
  read: (report: (damage: Damage) => void) => AsyncIterable<readonly Line[]>,
): Promise<{
  readonly lines: readonly Line[]
  readonly told: readonly Damage[]
  readonly error: unknown
}> => {
  const lines: Line[] = []
  const told: Damage[] = []
  try {
    for await (const batch of read((damage) => told.push(damage))) lines.push(...batch)
  } catch (error) {
    return { lines, told, error }
  }
  return { lines, told, error: null }
}
