// @ts-check
/** Before a test file loads: what it makes as it loads is made without the mutant of the run before (kept-worker.mjs). */
import { inject } from 'vitest'

const given = /** @type {(name: string) => any} */ (inject)
const stryker = Object(globalThis)[given('globalNamespace')]
if (given('mode') === 'mutant' && given('mutantActivation') === 'runtime') stryker.activeMutant = undefined
