import { deepStrictEqual, fail } from 'node:assert/strict'
import * as E from 'fp-ts/lib/Either.js'
import { encodeLine, type Line, parseLine } from '../events/line.js'
import type { Appended, EventLog } from '../events/log.js'

const at = (ms: number): string => new Date(Date.UTC(2026, 11, 1, 9, 0, 0, ms)).toISOString()

export const rootLine = (nonce: string): Line =>
  encodeLine(
    { parent: null, at: at(0), type: 'session', note: false },
    { format: 1, nonce, workspace: '/w', cwd: '/w' },
  )

export const said = (parent: string, ms: number, content: string): Line =>
  encodeLine({ parent, at: at(ms), type: 'message', note: false }, { role: 'user', content })

export const titled = (parent: string, ms: number): Line =>
  encodeLine({ parent, at: at(ms), type: 'title', note: true }, { title: 'a title', by: 'user' })

export const right = <A>(result: E.Either<Error, A>): A =>
  E.isRight(result) ? result.right : fail(result.left)

export const create = async (log: EventLog, nonce: string): Promise<Line> => {
  const root = rootLine(nonce)
  right(await log.create([root])())
  return root
}

export const append = async (
  log: EventLog,
  session: string,
  tail: string,
  ...lines: Line[]
): Promise<Appended> => right(await log.append(session, tail, lines)())

export const all = async (batches: AsyncIterable<readonly Line[]>): Promise<readonly Line[]> => {
  const lines: Line[] = []
  for await (const batch of batches) lines.push(...batch)
  return lines
}

export const idsOf = (lines: readonly Line[]): readonly string[] => lines.map(({ id }) => id)

/** The bytes come back as they were given, and so what they parse to. */
export const sameLines = (found: readonly Line[], given: readonly Line[]): void => {
  deepStrictEqual(
    found.map(({ bytes }) => bytes.toString()),
    given.map(({ bytes }) => bytes.toString()),
  )
  for (const line of found) right(E.mapLeft((why: string) => new Error(why))(parseLine(line)))
}

/** How long a watch may take to tell of what is there (ms). */
const patience = 5_000

/** What a promise gives, in good time: a law that waits for ever would say nothing. `stop` ends what is waited for. */
export const inTime = async <T>(promise: Promise<T>, ...stop: readonly AbortController[]): Promise<T> => {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`nothing came within ${patience} ms`)), patience)
  })
  try {
    return await Promise.race([promise, late])
  } finally {
    clearTimeout(timer)
    for (const one of stop) one.abort()
  }
}
