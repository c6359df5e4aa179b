import { dirname } from 'node:path'
import { Ambiguous, NewerFormat, NotFound, StoreUnusable } from '../../events/errors/index.js'
import type { EventId } from '../../events/event.js'
import { refuseLink } from '../../events/file-log/links.js'
import type { FileStat, Fs } from '../../events/ports.js'
import type { SessionRef } from '../api.js'
import type { Home } from './home.js'
import { otherKey, realWorkspace, repoOf, type Workspace, workspaceKey } from './workspace.js'

/** A workspace's folder in the store. */
export interface Place {
  readonly key: string
  readonly folder: string
  /** The workspace's path; '' where `workspace.json` is gone and the key does not tell. */
  readonly path: string
  readonly workspace: Workspace | null
}

/** Names that belong to a store: a folder with something in it and none of these is not one. */
const storeNames = new Set(['projects', 'config.toml', 'vault.jsonl', 'removed.jsonl', 'search', 'imports'])

/** Refuses a path that holds something else; nothing at all is an empty store. */
export const checkStore = ({ root, layout, ports: { fs } }: Home): void => {
  const stat = fs.stat(root)
  if (stat === null) return
  if (!stat.isDirectory) throw new StoreUnusable('not a folder', root, 'name a folder with --store')
  mustBeOurs(root, stat)
  refuseLink(fs, layout.projects)
  const names = readNames(fs, root)
  if (names.length > 0 && !names.some((name) => storeNames.has(name)))
    throw new StoreUnusable(
      'this folder is no Coppice store',
      root,
      'name an empty folder or a store with --store',
    )
}

/** Whoever else can write here can have us write anywhere, and read what we keep (INV-12). */
const mustBeOurs = (root: string, { uid, mode }: FileStat): void => {
  const own = process.geteuid?.()
  if (uid === undefined || own === undefined) return
  if (uid !== own && own !== 0)
    throw new StoreUnusable(
      `the store belongs to another user (${uid})`,
      root,
      'name one of your own with --store, or have it given to you (chown)',
    )
  if ((mode & writableByOthers) !== 0)
    throw new StoreUnusable('others may write to the store', root, `chmod go-w ${root}`)
}
const writableByOthers = 0o022

const readNames = (fs: Fs, path: string): readonly string[] => {
  try {
    return fs.readDir(path)
  } catch (error) {
    throw new StoreUnusable(
      `cannot be read (${(error as NodeJS.ErrnoException).code})`,
      path,
      'check its permissions',
      error,
    )
  }
}

/** Every workspace that has a folder in the store. */
export const placesIn = (home: Home): readonly Place[] =>
  readNames(home.ports.fs, home.layout.projects)
    .filter((name) => /^[A-Za-z0-9_-]+$/.test(name) && isFolder(home, name))
    .map((key) => placeOf(home, key))

/** A symlink is none: it could lead out of the store (INV-12); `verify` tells of it. */
const isFolder = ({ layout, ports: { fs } }: Home, key: string): boolean => {
  const { folder } = layout.workspace(key)
  return fs.stat(folder)?.isDirectory === true && fs.isLink?.(folder) !== true
}

const placeOf = (home: Home, key: string): Place => {
  const { folder, workspaceFile } = home.layout.workspace(key)
  const workspace = readWorkspace(home.ports.fs, workspaceFile)
  return { key, folder, workspace, path: workspace?.path ?? pathOfKey(key) }
}

const readWorkspace = (fs: Fs, path: string): Workspace | null => {
  let read: { format?: unknown; path?: unknown }
  try {
    read = JSON.parse(Buffer.from(fs.readFile(path)).toString())
  } catch {
    return null
  }
  if (typeof read?.format === 'number' && read.format > 1)
    throw new NewerFormat(path, `store format ${read.format}`)
  return typeof read?.path === 'string' ? (read as Workspace) : null
}

/** A key that was not cut is the path itself. */
const pathOfKey = (key: string): string => {
  const path = Buffer.from(key, 'base64url').toString()
  return workspaceKey(path) === key ? path : ''
}

/** The place of a workspace, by its real path; null where the store has none. */
export const placeAt = (home: Home, path: string): Place | null => {
  const real = realWorkspace(path)
  for (const key of [workspaceKey(real), otherKey(real)]) {
    if (!isFolder(home, key)) continue
    const place = placeOf(home, key)
    // Without a `workspace.json` nothing says that the key is another's.
    if (place.workspace === null || place.path === real) return { ...place, path: real }
  }
  return null
}

/** The place of a workspace, made where there is none. */
export const makePlace = async (home: Home, path: string): Promise<Place> => {
  const real = realWorkspace(path)
  const there = placeAt(home, real)
  if (there?.workspace != null) return there
  const free = [workspaceKey(real), otherKey(real)].find((one) => !isFolder(home, one))
  const key = there?.key ?? free
  if (key === undefined)
    throw new StoreUnusable('both keys of the workspace are taken', real, 'look into projects of the store')
  const repo = await repoOf(real)
  const workspace: Workspace = { format: 1, path: real, ...(repo === undefined ? {} : { repo }) }
  const { folder } = home.layout.workspace(key)
  await writeWorkspace(home, key, workspace)
  return { key, folder, workspace, path: real }
}

export const writeWorkspace = async (home: Home, key: string, workspace: Workspace): Promise<void> => {
  const { fs, random } = home.ports
  const { folder, workspaceFile } = home.layout.workspace(key)
  try {
    fs.makeDir(folder)
    await syncAbove(home)
    const temporary = `${workspaceFile}.${random.hex(4)}`
    await writeSynced(fs, temporary, Buffer.from(`${JSON.stringify(workspace)}\n`))
    fs.rename(temporary, workspaceFile)
    await fs.syncDir(folder)
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    throw new StoreUnusable(
      `cannot be written (${code ?? message})`,
      dirname(workspaceFile),
      'check the permissions of the store and its disk',
      error,
    )
  }
}

/** All of it, on disk; where that fails nothing is left of it. */
const writeSynced = async (fs: Fs, path: string, bytes: Uint8Array): Promise<void> => {
  const file = fs.open(path, 'new')
  try {
    if (file.write(bytes) !== bytes.length) throw new Error('the disk is full')
    await file.sync()
  } catch (error) {
    fs.remove(path)
    throw error
  } finally {
    file.close()
  }
}

/** A folder above that was there may be one that a killed process made, and never synced into the one above it. */
const syncAbove = async ({ root, layout, ports: { fs } }: Home): Promise<void> => {
  await fs.syncDir(layout.projects)
  await fs.syncDir(root)
  // Others' folders may not be ours to open; then whoever gave us this one made it.
  await fs.syncDir(dirname(root)).catch(() => undefined)
}

/** Every session of a place, hidden by no index (INV-8). */
export const sessionsIn = (home: Home, place: Place): readonly EventId[] => home.log(place.folder).sessions()

/** The one session whose id begins so, 4 characters or more, over the whole store. */
export const findSession = (home: Home, name: string): SessionRef & { readonly place: Place } => {
  checkStore(home)
  const isPrefix = /^[0-9a-f]{4,32}$/.test(name)
  const found = !isPrefix
    ? []
    : placesIn(home).flatMap((place) =>
        sessionsIn(home, place)
          .filter((id) => id.startsWith(name))
          .map((id) => ({ id, key: place.key, workspace: place.path, place })),
      )
  const [first, ...rest] = found
  if (first === undefined) throw new NotFound('session', name, home.root, 'try list --all, or check -w')
  if (rest.length > 0 && new Set(found.map(({ id }) => id)).size > 1)
    throw new Ambiguous(
      'session',
      name,
      found.map(({ id }) => id),
    )
  return first
}
