import { dirname, join } from 'node:path'
import { NotFound, Refused } from '../../events/errors/index.js'
import { isSessionId } from '../../events/file-log/file-log.js'
import { done } from '../code/done.js'
import type { Home } from './home.js'
import { workspaceLayout } from './layout.js'
import { makePlace, type Place, placeAt, placesIn, sessionsIn, writeWorkspace } from './places.js'
import { others } from './presence.js'
import { realWorkspace, repoOf, workspaceKey } from './workspace.js'

/** A workspace that moved: its sessions go to its new path. Gives how many. Names that are there on both sides are refused. */
export const relocateWorkspace = async (home: Home, from: string, to: string): Promise<number> => {
  const { fs } = home.ports
  if (fs.stat(to)?.isDirectory !== true)
    throw new NotFound('workspace', to, 'no such folder', 'move the workspace there first')
  const target = realWorkspace(to)
  const source = placeAt(home, from) ?? halfMoved(home, from, target)
  if (source === null)
    throw new NotFound('workspace', from, home.root, 'see the workspaces with `coppice list --all`')
  if (realWorkspace(from) === target)
    throw new Refused('it is there already', target, 'name two different folders')
  const ids = sessionsIn(home, source)
  const held = ids.find((id) => others(workspaceLayout(source.folder).presence(id), fs).length > 0)
  if (held !== undefined)
    throw new Refused(`session ${held} is held open`, from, 'close it there first', true)
  await endRestores(home, source, from, target)
  const there = placeAt(home, target)
  if (there === null && fs.stat(home.layout.workspace(workspaceKey(target)).folder) === null)
    await moveWhole(home, source, target)
  else await moveEach(home, source, there ?? (await makePlace(home, target)))
  return ids.length
}

/** A restore that a crash cut off names files by the path that the workspace had: they are at the new one now. */
const endRestores = async (home: Home, source: Place, from: string, to: string): Promise<void> => {
  if (home.ports.fs.stat(workspaceLayout(source.folder).code) === null) return
  const code = await home.code({ folder: source.folder, path: to })
  await done(code.checkpoints.rebase(from, to))
  await code.settle()
}

/** A move that a crash cut short: the old key's folder says the new path already. */
const halfMoved = (home: Home, from: string, target: string): Place | null =>
  placesIn(home).find(({ key, path }) => key === workspaceKey(realWorkspace(from)) && path === target) ?? null

const moveWhole = async (home: Home, source: Place, path: string): Promise<void> => {
  const key = workspaceKey(path)
  const repo = (await repoOf(path)) ?? source.workspace?.repo
  await writeWorkspace(home, source.key, { format: 1, path, ...(repo === undefined ? {} : { repo }) })
  home.ports.fs.rename(source.folder, home.layout.workspace(key).folder)
  await home.ports.fs.syncDir(home.layout.projects)
}

/** Into a workspace that has sessions of its own: folder by folder, none over another. */
const moveEach = async (home: Home, source: Place, target: Place): Promise<void> => {
  const { fs } = home.ports
  const [from, to] = [workspaceLayout(source.folder), workspaceLayout(target.folder)]
  const damaged = fs.readDir(join(from.archive, 'damaged')).map((name) => join('archive', 'damaged', name))
  const archived = fs.readDir(from.archive).filter(isSessionId)
  const entries = [...sessionsIn(home, source), ...archived.map((name) => join('archive', name)), ...damaged]
  const clash = entries.find((name) => fs.stat(join(to.folder, name)) !== null)
  if (clash !== undefined)
    throw new Refused(`${clash} is in both workspaces`, target.path, 'archive one of them first', true)
  const folders = new Set(entries.map((name) => dirname(name)))
  for (const name of folders) fs.makeDir(join(to.folder, name))
  await moveCode(home, source, target)
  for (const name of entries) fs.rename(join(from.folder, name), join(to.folder, name))
  for (const name of folders) {
    await fs.syncDir(join(to.folder, name))
    await fs.syncDir(join(from.folder, name))
  }
  if (isEmptied(home, source)) fs.remove(source.folder)
}

/** Their checkpoints are copied first, so that no session is ever without its own. */
const moveCode = async (home: Home, source: Place, target: Place): Promise<void> => {
  const { fs } = home.ports
  if (fs.stat(workspaceLayout(source.folder).code) === null) return
  const sessions = [...sessionsIn(home, source), ...fs.readDir(workspaceLayout(source.folder).archive)]
  const [from, to] = [await home.code(source), await home.code(target)]
  await done(to.checkpoints.takeIn(from.checkpoints, sessions))
}

/** Whether nothing but what every workspace's folder holds is left in it. */
const isEmptied = ({ ports: { fs } }: Home, { folder }: Place): boolean => {
  const { archive } = workspaceLayout(folder)
  const rest = fs
    .readDir(folder)
    .filter((name) => !['workspace.json', 'metadata.jsonl', 'archive', 'file-history'].includes(name))
  const archived = fs.readDir(archive).filter((name) => name !== 'damaged')
  return rest.length + archived.length + fs.readDir(join(archive, 'damaged')).length === 0
}

/** Workspaces whose path is gone and whose repository is the one at `path`: where its sessions may be. Never moved silently. */
export const movedFrom = async (home: Home, path: string): Promise<readonly Place[]> => {
  const gone = placesIn(home).filter(
    (place) => place.workspace?.repo?.firstCommit !== undefined && home.ports.fs.stat(place.path) === null,
  )
  if (gone.length === 0) return []
  const repo = await repoOf(path)
  if (repo?.firstCommit === undefined) return []
  return gone.filter(
    ({ workspace }) =>
      workspace?.repo?.firstCommit === repo.firstCommit &&
      (workspace?.repo?.inside ?? '') === (repo.inside ?? ''),
  )
}
