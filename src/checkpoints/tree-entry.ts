import type { TreeEntry } from './objects/git-format.js'
import type { ObjectStore } from './objects/object-store.js'
import type { TreePath } from './tree-path.js'

/** What a commit's tree holds at a path; null where it holds nothing there. */
export const entryAt = async (
  store: ObjectStore,
  commit: string,
  path: TreePath,
): Promise<TreeEntry | null> => {
  let folder = (await store.readCommit(commit)).tree
  const names = path.split('/')
  for (const [depth, name] of names.entries()) {
    const entry = (await store.readTree(folder)).find((found) => found.name === name)
    if (entry === undefined) return null
    if (depth === names.length - 1) return entry
    if (entry.mode !== '40000') return null
    folder = entry.oid
  }
  return null
}
