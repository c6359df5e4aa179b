import type { Damage } from '../events/errors/damaged.js'
import type { SearchProblem } from '../session/api.js'
import type { Context } from './context.js'
import { damageReport } from './damage-report.js'
import { exitCodeOf, messageOf } from './exit.js'

/** What could not be read of several sessions, told when the work is done. */
export class Problems {
  readonly #damage = new Map<string, Damage[]>()
  readonly #errors = new Map<string, Error>()

  readonly report = (problem: SearchProblem): void => {
    if ('error' in problem) this.#errors.set(problem.session, problem.error)
    else this.#damage.set(problem.session, [...(this.#damage.get(problem.session) ?? []), problem.damage])
  }

  /** A line or more a session on stderr; gives the exit code: a torn tail is a warning. */
  async tell(context: Context): Promise<number> {
    let code = 0
    for (const error of this.#errors.values()) {
      await context.warn(messageOf(error))
      code = Math.max(code, exitCodeOf(error))
    }
    const store = await context.store()
    for (const [session, found] of this.#damage) {
      const { report, finish } = damageReport(context, await store.reader(session))
      for (const damage of found) report(damage)
      code = Math.max(code, await finish())
    }
    return code
  }
}
