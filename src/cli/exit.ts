import { Tagged } from '../events/errors/tagged.js'

/** The exit codes of the command line (docs/CLI.md). */
export const exit = {
  done: 0,
  failed: 1,
  usage: 2,
  notFound: 3,
  damaged: 4,
  conflict: 5,
  interrupted: 130,
} as const

const codes: Readonly<Record<string, number>> = {
  Usage: exit.usage,
  Ambiguous: exit.usage,
  NotFound: exit.notFound,
  Damaged: exit.damaged,
  LogLostTail: exit.damaged,
  ObjectDamaged: exit.damaged,
  StaleTail: exit.conflict,
  Locked: exit.conflict,
  Moved: exit.conflict,
  RestoreConflict: exit.conflict,
}

/** What a failure exits with. */
export const exitCodeOf = (error: unknown): number => {
  if (!(error instanceof Tagged)) return exit.failed
  if (error.tag === 'Refused' && (error as { conflict?: unknown }).conflict === true) return exit.conflict
  // A value that an event names and that is gone is damage, not a name that was mistyped.
  if (error.tag === 'NotFound' && (error as { kind?: unknown }).kind === 'blob') return exit.damaged
  return codes[error.tag] ?? exit.failed
}

/** What to do about a failure of the system, by its code. */
const hints: Readonly<Record<string, string>> = {
  ENOSPC: 'free some space, and try again',
  EDQUOT: 'free some space, and try again',
  EROFS: 'it can only be read there: use a copy that can be written',
  EMFILE: 'raise the limit of open files (`ulimit -n`)',
}

/** The error's one line, without what would break it or command a terminal. */
export const messageOf = (error: unknown): string => {
  if (error instanceof Tagged) return error.message
  const { syscall, code = '', message } = error as NodeJS.ErrnoException
  const what = message ?? String(error)
  if (syscall !== undefined) return `${what}: ${hints[code] ?? 'check that it is there, and its permissions'}`
  return `${what}: this is a fault of coppice: run again with --debug, and report it`
}

/** The error for programs. */
export const jsonOf = (error: unknown): { readonly error: Record<string, unknown> } => {
  if (error instanceof Tagged) return { error: error.toJSON() }
  const { code } = error as NodeJS.ErrnoException
  return { error: { tag: 'Failed', message: messageOf(error), ...(code === undefined ? {} : { code }) } }
}
