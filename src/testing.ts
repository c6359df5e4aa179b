/**
 * For authors of stores: the laws that every `EventLog` keeps, as named checks that any test runner can run.
 *
 *     for (const { name, check } of eventLogLaws) test(name, async () => check(await openYourEmptyLog()))
 */
export { eventLogLaws, type Law } from './contract/event-log.js'
