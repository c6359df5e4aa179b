import { join } from 'node:path'
import type { EventId } from '../../events/event.js'
import { isSessionId, logName } from '../../events/file-log/file-log.js'
import type { Verified } from '../api.js'
import type { Home } from './home.js'
import { workspaceLayout } from './layout.js'
import { oldCopiesIn, unfinished } from './old-copies.js'
import { type Place, placesIn, sessionsIn } from './places.js'

interface PlaceProblem {
  readonly kind: 'symlink' | 'permissions' | 'redaction-unfinished'
  readonly detail: string
}

/** What is wrong with a session's folder beside what stands in its files. */
export const placeProblems = (home: Home, place: Place, id: EventId): readonly PlaceProblem[] => {
  const { session, presence } = workspaceLayout(place.folder)
  const folder = session(id)
  const blobs = join(folder, 'blobs')
  const paths = [folder, join(folder, logName), blobs, presence(id), ...filesIn(home, blobs)]
  const { fs } = home.ports
  const links = paths.filter((path) => fs.isLink?.(path) === true)
  const open = paths.filter((path) => !links.includes(path) && ((fs.stat(path)?.mode ?? 0) & others) !== 0)
  const left =
    home.ports.fs.isLink?.(workspaceLayout(place.folder).archive) === true ? [] : oldCopiesIn(home, place)
  return [
    ...links.map((path) => ({ kind: 'symlink', detail: `${path} is a symlink` }) as const),
    ...open.map((path) => ({ kind: 'permissions', detail: `others may use ${path}` }) as const),
    ...left
      .filter((copy) => copy.session === id && copy.path.endsWith(unfinished))
      .map(({ path }) => ({ kind: 'redaction-unfinished', detail: `${path} was left by one` }) as const),
  ]
}
const others = 0o077

const filesIn = ({ ports: { fs } }: Home, folder: string): readonly string[] =>
  fs.isLink?.(folder) === true ? [] : fs.readDir(folder).map((name) => join(folder, name))

/** What was verified of a whole store, and what is wrong in it that no session owns. */
export const withStoreProblems = (home: Home, verified: Verified): Verified => {
  const strays = strayLinks(home).map((path) => ({
    kind: 'symlink',
    detail: `${path} is a symlink: it is not followed, and nothing of it is listed`,
  }))
  const found = [...strays, ...openPaths(home), ...lostWorkspaces(home)]
  const problems = found.map((problem) => ({ session: '', line: null, offset: null, ...problem }))
  return { ...verified, problems: [...verified.problems, ...problems] }
}

interface StoreProblem {
  readonly kind: 'symlink' | 'permissions' | 'workspace-unknown'
  readonly detail: string
}

/** What others may use of all that no session's folder holds: each of these was made for its owner alone (INV-12). */
const openPaths = (home: Home): readonly StoreProblem[] => {
  const { fs } = home.ports
  const { projects, removed, vault, search, imports } = home.layout
  const ofPlaces = placesIn(home).flatMap(({ folder }) => {
    const { workspaceFile, index, archive, code } = workspaceLayout(folder)
    return [folder, workspaceFile, index, archive, code]
  })
  return [projects, removed, vault, search, ...filesIn(home, search), imports, ...ofPlaces]
    .filter((path) => fs.isLink?.(path) !== true && ((fs.stat(path)?.mode ?? 0) & others) !== 0)
    .map((path) => ({ kind: 'permissions', detail: `others may use ${path}` }))
}

/** A long path does not stand in the folder's name: without `workspace.json` nobody knows whose sessions these are. */
const lostWorkspaces = (home: Home): readonly StoreProblem[] =>
  placesIn(home)
    .filter((place) => place.path === '' && sessionsIn(home, place).length > 0)
    .map(({ folder }) => ({
      kind: 'workspace-unknown',
      detail: `${workspaceLayout(folder).workspaceFile} is missing or no JSON: the path of the workspace is not known`,
    }))

/** Symlinks where a workspace's or a session's folder could stand: nothing of them is followed, nor listed. */
const strayLinks = ({ layout, ports: { fs } }: Home): readonly string[] => {
  const isLink = (path: string): boolean => fs.isLink?.(path) === true
  const keys = fs.readDir(layout.projects).map((key) => layout.workspace(key).folder)
  const inside = keys
    .filter((folder) => !isLink(folder) && fs.stat(folder)?.isDirectory === true)
    .flatMap((folder) =>
      fs
        .readDir(folder)
        .filter((name) => isSessionId(name) || name === 'archive' || name === 'file-history')
        .map((name) => join(folder, name)),
    )
  return [...keys, ...inside].filter(isLink)
}
