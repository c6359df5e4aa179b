import { type Members, numberOf, stringOf } from './members.js'

/** A process that a session started and that, as far as its log says, still runs. Times in ISO 8601. */
export interface RunningProcess {
  readonly pid: number
  readonly startedAt: string
  readonly command: string
  readonly deadline?: string
}

/** The running processes after a `process` note. A pid used again is another process: its start time tells them apart. */
export const nextProcesses = (
  running: readonly RunningProcess[],
  members: Members,
): readonly RunningProcess[] => {
  const pid = numberOf(members.pid)
  const state = members.state
  if (pid === null || (state !== 'started' && state !== 'exited' && state !== 'killed')) return running
  const startedAt = stringOf(members.startedAt) ?? ''
  if (state !== 'started')
    return running.filter((process) => process.pid !== pid || process.startedAt !== startedAt)
  const deadline = stringOf(members.deadline)
  const started = {
    pid,
    startedAt,
    command: stringOf(members.command) ?? '',
    ...(deadline === null ? {} : { deadline }),
  }
  return [...running.filter((process) => process.pid !== pid), started]
}
