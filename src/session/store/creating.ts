import * as E from 'fp-ts/lib/Either.js'
import { type Draft, decodeDraft } from '../../events/draft.js'
import { NotFound, Refused } from '../../events/errors/index.js'
import type { EventId } from '../../events/event.js'
import type { Line } from '../../events/line.js'
import type { Ports } from '../../events/system.js'
import type { NewSession } from '../api.js'
import type { LiveSession } from '../session.js'
import { Stamp } from '../stamp.js'
import type { Home } from './home.js'
import { openSession } from './opening.js'
import { checkStore, makePlace, type Place } from './places.js'

/** Makes a session: its root, and what it begins with. */
export const createSession = async (home: Home, input: NewSession): Promise<LiveSession> => {
  checkStore(home)
  const problem = whyNoFolder(home, input.workspace)
  if (problem !== null)
    throw new NotFound('workspace', input.workspace, problem, 'name a folder with --workspace')
  const place = await makePlace(home, input.workspace)
  const { agent, startedBy, title, system, track } = input
  if (track === 'workspace') await mustBeTrackable(home, place)
  const root: Draft = {
    type: 'session',
    format: 1,
    nonce: home.ports.random.hex(16),
    workspace: place.path,
    cwd: input.cwd ?? place.path,
    ...(place.workspace?.repo === undefined ? {} : { repo: place.workspace.repo }),
    ...(agent === undefined ? {} : { agent }),
    ...(startedBy === undefined ? {} : { startedBy }),
    ...(track === 'workspace' ? { track } : {}),
  }
  const first: Draft[] = [root]
  if (system !== undefined) first.push({ type: 'message', role: 'system', content: system })
  if (title !== undefined) first.push({ type: 'title', note: true, title, by: 'user' })
  const id = await writeSession(home, place, (await home.guard?.drafts(null, first)) ?? first)
  const session = await openSession(home, place, id, { isNew: true })
  if (home.maxSessions !== null) await (await import('./retention.js')).retain(home, place, home.maxSessions)
  return session
}

const mustBeTrackable = async (home: Home, place: Place): Promise<void> => {
  const why = (await home.code(place)).checkpoints.whyNotWorkspace()
  if (why !== null)
    throw new Refused(
      `the whole workspace is not tracked: ${why}`,
      place.path,
      'name a folder below it with --workspace, or leave --track out: files that tools name are tracked all the same',
    )
}

/** Null also for what is not there: an imported session's workspace may be gone. */
const whyNoFolder = ({ ports }: Home, path: string): string | null => {
  try {
    return ports.fs.stat(path)?.isDirectory === false ? 'not a folder' : null
  } catch (error) {
    return String((error as NodeJS.ErrnoException).code)
  }
}

/** Writes a new session of drafts in order, each on the one before. Gives its id. */
const writeSession = async (home: Home, place: Place, drafts: readonly Draft[]): Promise<EventId> => {
  const { lines, blobs } = linesOf(drafts, home.ports)
  const [root] = lines as [Line]
  const log = home.log(place.folder)
  const made = await log.create(lines, home.durability, blobs)()
  if (E.isLeft(made)) throw made.left
  return root.id
}

interface Made {
  readonly lines: readonly Line[]
  readonly blobs: ReadonlyMap<string, Buffer>
}

const linesOf = (drafts: readonly Draft[], { clock }: Ports): Made => {
  const stamp = new Stamp({ clock })
  const lines: Line[] = []
  const blobs = new Map<string, Buffer>()
  let position: EventId | null = null
  for (const draft of drafts) {
    const checked = decodeDraft(draft)
    if (E.isLeft(checked)) throw checked.left
    const sealed = stamp.seal(checked.right, position, '')
    for (const [name, bytes] of sealed.blobs) blobs.set(name, bytes)
    if (!sealed.line.note) position = sealed.line.id
    lines.push(sealed.line)
  }
  return { lines, blobs }
}
