import { join } from 'node:path'
import type { SessionSpace, Space } from '../../checkpoints/space.js'
import type { EventId } from '../../events/event.js'
import { isSessionId, logName } from '../../events/file-log/file-log.js'
import type { Fs } from '../../events/ports.js'
import type { SessionRef, SessionUse, Use, WorkspaceUse } from '../api.js'
import { done } from '../code/done.js'
import type { Home } from './home.js'
import { workspaceLayout } from './layout.js'
import { type Place, placesIn } from './places.js'

type Ref = SessionRef & { readonly place: Place }

/** What takes space, in bytes: by session, and what the checkpoints of their workspaces share. `whole`: archived ones too. */
export const useOf = async (home: Home, refs: readonly Ref[], whole: boolean): Promise<Use> => {
  const { fs } = home.ports
  const places = whole ? placesIn(home) : [...new Map(refs.map(({ place }) => [place.key, place])).values()]
  const sessions: SessionUse[] = []
  const workspaces: WorkspaceUse[] = []
  let caches = 0
  for (const place of places) {
    const { index, code, archive, session } = workspaceLayout(place.folder)
    const found = await spaceOf(home, place)
    const space = typeof found === 'string' ? none : found
    const why = typeof found === 'string' ? found : null
    if (space.bytes > 0 || why !== null)
      workspaces.push({ workspace: place.path, code: space.bytes, unreached: space.unreachedBytes, why })
    caches += sizeOf(fs, index) + sizeOf(fs, join(code, 'stat-cache'))
    const add = (id: EventId, folder: string, archived: boolean): void => {
      sessions.push({
        ...filesOf(fs, folder),
        ...codeOf(space, id),
        session: id,
        workspace: place.path,
        archived,
      })
    }
    for (const ref of refs) if (ref.key === place.key) add(ref.id, session(ref.id), false)
    if (whole) for (const id of fs.readDir(archive).filter(isSessionId)) add(id, join(archive, id), true)
  }
  return { sessions, workspaces, caches }
}

const none: Space = { bytes: 0, unreachedBytes: 0, sessions: [] }

/** Or why it cannot be told: the others are told all the same. */
const spaceOf = async (home: Home, place: Place): Promise<Space | string> => {
  if (home.ports.fs.stat(workspaceLayout(place.folder).code) === null) return none
  try {
    return await done((await home.code(place)).checkpoints.space())
  } catch (error) {
    return (error as Error).message
  }
}

const codeOf = ({ sessions }: Space, id: EventId): Pick<SessionUse, 'checkpoints' | 'code' | 'ownCode'> => {
  const found: SessionSpace | undefined = sessions.find(({ session }) => session === id)
  return {
    checkpoints: found?.checkpoints ?? 0,
    code: found?.bytes ?? 0,
    ownCode: found?.ownBytes ?? 0,
  }
}

const filesOf = (fs: Fs, folder: string): Pick<SessionUse, 'log' | 'blobs'> => {
  const blobs = join(folder, 'blobs')
  const sizes = fs.readDir(blobs).map((name) => sizeOf(fs, join(blobs, name)))
  return { log: sizeOf(fs, join(folder, logName)), blobs: sizes.reduce((sum, size) => sum + size, 0) }
}

const sizeOf = (fs: Fs, path: string): number => fs.stat(path)?.size ?? 0
