import { oidOf } from './objects/git-format.js'
import { absoluteOf, type TreePath } from './tree-path.js'
import type { WorkFs } from './work-fs.js'

/** A `.gitignore` as it stands on disk: its text, and the name of its bytes. */
export interface RuleFile {
  readonly text: string
  readonly oid: string
}

/** Of a `.gitignore` no more is read (bytes). */
export const maxRules = 1024 * 1024

export const rulesOf = (folder: TreePath): TreePath => `${folder}/.gitignore`

/** null where a folder has none, or no file of that name. */
export const readRules = (work: WorkFs, workspace: string, folder: TreePath): RuleFile | null => {
  const path = absoluteOf(workspace, rulesOf(folder))
  if (work.lstat(path)?.kind !== 'file') return null
  const file = work.open(path, 'read')
  try {
    const bytes = Buffer.alloc(Math.min(file.stat().size, maxRules))
    const read = bytes.subarray(0, file.read(bytes, 0))
    return { text: read.toString(), oid: oidOf('blob', read) }
  } finally {
    file.close()
  }
}
