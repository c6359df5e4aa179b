import type { Problem, Use, Verified } from '../../session/api.js'
import type { Health } from '../../session/store/health.js'
import { bytes, counted } from '../quantity.js'
import { type Facts, type Fault, isFault, type LockFacts, type StoreFacts } from './facts.js'

export type State = 'ok' | 'warn' | 'bad'

/** One line of the screen: what was looked at, how it is, and where it is not well what to do. */
export interface Finding {
  readonly check: string
  readonly state: State
  readonly says: string
  readonly next: string | null
}

/** Judges what was found; pure. */
export const findingsOf = (facts: Facts): readonly Finding[] => [
  nodeFinding(facts),
  nativeFinding(facts),
  configFinding(facts),
  storeFinding(facts.store),
  ...diskFinding(facts.store),
  ...(facts.locks === null ? [] : [lockFinding(facts.locks)]),
  ...over('verify', facts.verified, verifyFindings),
  ...over('sessions', facts.health, (health) => healthFindings(health, facts)),
  ...over('space', facts.use, (use) => spaceFindings(use, facts.health)),
]

const ok = (check: string, says: string): Finding => ({ check, state: 'ok', says, next: null })
const warn = (check: string, says: string, next: string): Finding => ({ check, state: 'warn', says, next })
const bad = (check: string, says: string, next: string): Finding => ({ check, state: 'bad', says, next })

/** The findings of one part, or that it could not be looked at. */
const over = <T extends object>(
  check: string,
  part: T | Fault | null,
  judge: (part: T) => readonly Finding[],
): readonly Finding[] => {
  if (part === null) return []
  return isFault(part) ? [faulty(check, part)] : judge(part)
}

const faulty = (check: string, { message, next }: Fault): Finding => bad(check, message, next)

const nodeFinding = ({ node: { version, range, fits } }: Facts): Finding =>
  fits ? ok('node', version) : bad('node', `${version}, and ${range} is needed`, 'install a newer Node.js')

const nativeFinding = ({ native }: Facts): Finding =>
  native === null
    ? ok('native', 'fs-native-extensions loads')
    : bad('native', `fs-native-extensions does not load: ${native}`, 'install again, on this machine')

const configFinding = ({ config: { path, isThere, fault } }: Facts): Finding => {
  if (fault !== null) return bad('config', fault.message, `${fault.next}: until then no other command runs`)
  return ok('config', isThere ? path : 'no config.toml: all as it comes')
}

const storeFinding = ({ path, isThere, mode, isOwn, fault }: StoreFacts): Finding => {
  if (fault !== null) return faulty('store', fault)
  if (!isThere) return ok('store', `${path}: none yet: the first session makes it`)
  const owner = isOwn === null ? '' : isOwn ? 'yours, ' : 'of another user, '
  return ok('store', `${path}: ${owner}mode ${mode.toString(8).padStart(4, '0')}, format 1`)
}

/** Below this an append may soon fail. */
const little = 100e6

const diskFinding = ({ isThere, free }: StoreFacts): readonly Finding[] => {
  if (!isThere || free === null) return []
  return [
    free < little
      ? warn('disk', `${bytes(free)} free`, 'free some space: appends fail on a full disk, and lose nothing')
      : ok('disk', `${bytes(free)} free`),
  ]
}

const lockFinding = (locks: LockFacts): Finding => {
  if (locks.kind === 'work') return ok('locks', 'kernel locks work here')
  if (locks.kind === 'fail')
    return bad('locks', locks.why, 'keep the store on a local disk: two writers would not see each other')
  return warn(
    'locks',
    `not tried: nothing can be written here (${locks.why})`,
    'reading works; check the permissions of the store to write',
  )
}

const verifyFindings = (verified: Verified): readonly Finding[] => {
  const { problems, sessions, events, diverged } = verified
  const read = `${counted(sessions, 'session')}, ${counted(events, 'event')}, ${bytes(verified.bytes)}`
  return [
    problems.length === 0
      ? ok('verify', `${read}: every hash and link holds`)
      : bad('verify', `${counted(problems.length, 'problem')}: ${kindsOf(problems)}`, 'coppice verify'),
    ...(diverged.length === 0
      ? []
      : [
          warn(
            'branches',
            `${counted(diverged.length, 'session')} diverged (nothing is lost)`,
            `coppice tree ${diverged[0]?.session.slice(0, 8) ?? ''}, then checkout the end to go on from`,
          ),
        ]),
  ]
}

/** `blob 2, torn-tail 1`. */
const kindsOf = (problems: readonly Problem[]): string => {
  const counts = new Map<string, number>()
  for (const { kind } of problems) counts.set(kind, (counts.get(kind) ?? 0) + 1)
  return [...counts]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([kind, count]) => `${kind} ${count}`)
    .join(', ')
}

const healthFindings = (health: Health, facts: Facts): readonly Finding[] => [
  ok('sessions', sessionsSaid(health)),
  ...movedFindings(health, facts),
  health.interrupted.length === 0
    ? ok('restores', 'none was cut off')
    : warn(
        'restores',
        `cut off, or under way: ${listed(health.interrupted)}`,
        'open a session there for writing (coppice checkpoint): that ends it, all files old or all new',
      ),
  health.unfinished.length === 0
    ? ok('redactions', 'none was cut off')
    : warn(
        'redactions',
        `cut off: ${listed(health.unfinished.map((id) => id.slice(0, 8)))}`,
        'the same coppice redact again: it ends what was left',
      ),
  ok('caches', cachesSaid(health)),
]

const sessionsSaid = ({ sessions, workspaces, held, swept }: Health): string =>
  [
    `${sessions} in ${counted(workspaces.length, 'workspace')}`,
    ...(held > 0 ? [`${held} held open`] : []),
    ...(swept > 0 ? [`${counted(swept, 'mark')} of processes that are gone taken away`] : []),
  ].join(', ')

const movedFindings = ({ workspaces }: Health, { movedFrom, workspace }: Facts): readonly Finding[] => {
  const [from] = movedFrom
  if (from !== undefined)
    return [
      warn(
        'workspaces',
        `this one seems to have moved: its sessions are kept for ${from}`,
        `coppice relocate ${quoted(from)} ${quoted(workspace)}`,
      ),
    ]
  const gone = workspaces.filter(({ sessions, isThere }) => sessions > 0 && !isThere)
  const nameless = gone.filter(({ path }) => path === '').length
  const named = gone.flatMap(({ path }) => (path === '' ? [] : [path]))
  const rest = nameless === 0 ? [] : [`${nameless} whose path is not known`]
  return [
    gone.length === 0
      ? ok('workspaces', 'every one is where it was')
      : ok(
          'workspaces',
          `${gone.length} no longer there: ${listed([...named, ...rest])} (where one moved: coppice relocate)`,
        ),
  ]
}

const shown = 3
const listed = (names: readonly string[]): string =>
  names.length <= shown
    ? names.join(', ')
    : `${names.slice(0, shown).join(', ')} and ${names.length - shown} more`

/** For a shell, where it needs that. */
const quoted = (path: string): string =>
  /^[\w./~+-]+$/.test(path) ? path : `'${path.replaceAll("'", "'\\''")}'`

const cachesSaid = ({ sessions, indexed, search }: Health): string =>
  [
    indexed === sessions
      ? 'the list is up to date'
      : `the list has ${indexed} of ${sessions} (the next one reads the rest)`,
    search === null ? 'no search index yet' : `search index ${bytes(search)}`,
  ].join(', ')

/** What `gc` frees is worth a word from here on. */
const much = 100e6

const spaceFindings = (use: Use, health: Health | Fault | null): readonly Finding[] => {
  const sum = <T>(rows: readonly T[], of: (row: T) => number): number =>
    rows.reduce((total, row) => total + of(row), 0)
  const size = (archived: boolean): number =>
    sum(
      use.sessions.filter((row) => row.archived === archived),
      ({ log, blobs }) => log + blobs,
    )
  const code = sum(use.workspaces, (row) => row.code)
  const unreached = sum(use.workspaces, (row) => row.unreached)
  const says = `conversations ${bytes(size(false))}, code ${bytes(code)}`
  return [
    unreached > much
      ? warn('space', `${says}, ${bytes(unreached)} of it unused`, 'coppice gc')
      : ok('space', unreached === 0 ? says : `${says} (${bytes(unreached)} unused: coppice gc)`),
    ok('archive', archiveSaid(size(true), health)),
  ]
}

const archiveSaid = (sessionBytes: number, health: Health | Fault | null): string => {
  if (health === null || isFault(health)) return bytes(sessionBytes)
  const { sessions, copies, copyBytes } = health.archive
  if (sessions + copies === 0) return 'empty'
  const parts = [
    ...(sessions > 0 ? [counted(sessions, 'session')] : []),
    ...(copies > 0 ? [counted(copies, 'old log')] : []),
  ]
  return `${parts.join(', ')}, ${bytes(sessionBytes + copyBytes)} (coppice archive --purge removes it for good)`
}
