import * as E from 'fp-ts/lib/Either.js'
import type { TaskEither } from 'fp-ts/lib/TaskEither.js'

/** Runs a task, and rejects with what it failed with. */
export const done = async <A>(task: TaskEither<Error, A>): Promise<A> => {
  const result = await task()
  if (E.isLeft(result)) throw result.left
  return result.right
}
