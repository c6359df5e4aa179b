/**
 * For authors of stores: the laws that every `EventLog` keeps, as named checks that any test runner can run. For authors of
 * agents: arbitrary logs, drafts and commands for fast-check, a model of a session, and a disk and a log in memory that can
 * be made to fail (docs/TESTING.md). Needs `fast-check`.
 */
export { eventLogLaws } from './contract/event-log.js'
export { eventLogFaultLaws } from './contract/fault-laws.js'
export type { Failing, FaultLaw, Law } from './contract/law.js'
export * from './testing/arbitraries.js'
export { LogWriter } from './testing/log-writer.js'
export { type Fault, failing, type Operation, systemError } from './testing/memory-file.js'
export { MemoryFs } from './testing/memory-fs.js'
export { type MemoryLogOptions, memoryLog } from './testing/memory-log.js'
export { type Foretold, Model, type ModelLine, type Writer } from './testing/session-model.js'
export { playStep, type SessionStep, sessionSteps } from './testing/session-steps.js'
