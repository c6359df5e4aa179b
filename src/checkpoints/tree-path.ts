import { isAbsolute, join, relative, resolve, sep } from 'node:path'

/** The path of a file in a checkpoint's tree: `workspace/…` or `outside/…`, parted by `/` (docs/CHECKPOINTS.md). */
export type TreePath = string

/** A path as the tree names it, from its real absolute path. */
export const treePathOf = (workspace: string, absolute: string): TreePath => {
  const inside = relative(workspace, absolute)
  const isInside = inside !== '' && !isAbsolute(inside) && inside.split(sep)[0] !== '..'
  if (isInside) return `workspace/${inside.split(sep).join('/')}`
  const names = absolute.split(sep).filter((name) => name !== '')
  // The drive of a Windows path is a folder of that letter.
  return `outside/${(sep === '/' ? names : [names[0]?.replace(':', '') ?? '', ...names.slice(1)]).join('/')}`
}

/** The other way round. */
export const absoluteOf = (workspace: string, path: TreePath): string => {
  // Asked for every tracked file of every look: no part of it is to be normalised.
  if (sep === '/' && path.startsWith('workspace/') && workspace.length > 1)
    return workspace + path.slice('workspace'.length)
  const [top, ...rest] = path.split('/')
  if (top === 'workspace') return join(workspace, ...rest)
  if (sep === '/') return `/${rest.join('/')}`
  return resolve(`${rest[0] ?? ''}:${sep}`, ...rest.slice(1))
}

export const isOutside = (path: TreePath): boolean => path.startsWith('outside/')

/** The nearest folder above a path; undefined where that is the `workspace` or `outside` it begins with. */
export const folderAbove = (path: TreePath): TreePath | undefined => {
  const end = path.lastIndexOf('/')
  return end > path.indexOf('/') ? path.slice(0, end) : undefined
}

/** The folders above a path, nearest first, without the `workspace` or `outside` they begin with. */
export const foldersAbove = (path: TreePath): readonly TreePath[] => {
  const found: TreePath[] = []
  for (let end = path.lastIndexOf('/'); end > path.indexOf('/'); end = path.lastIndexOf('/', end - 1))
    found.push(path.slice(0, end))
  return found
}

/** Code points that HFS+ leaves out of names: git takes a name with them for the one without. */
const ignorable = /[\u200c-\u200f\u202a-\u202e\u206a-\u206f\ufeff]/gu

/** Names that git takes for `.git` on some system: no tree may hold them, and nothing of ours may touch one. */
export const isDotGit = (name: string): boolean =>
  name.split('\\').some((part) => /^(?:\.git|git~1)[. ]*(?::.*)?$/isu.test(part.replace(ignorable, '')))

/** Why a path can be in no checkpoint; null where it can. */
export const refusal = (path: TreePath): string | null => {
  const names = path.split('/').slice(1)
  if (names.length === 0 || names.some((name) => name === '' || name === '.' || name === '..'))
    return 'not the path of a file'
  if (names.some(isDotGit)) return 'it is in a .git, which belongs to git'
  return nameProblem(path)
}

/** What no file of ours is called: bytes that are not UTF-8 come in as U+FFFD, which names another file. */
export const nameProblem = (name: string): string | null => {
  if (name.includes('\ufffd') || Buffer.from(name).toString() !== name) return 'its name is not UTF-8'
  return name.includes('\0') ? 'no file has such a name' : null
}
