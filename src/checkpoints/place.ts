import { dirname, relative } from 'node:path'

/**
 * Why the files of a folder are not tracked all together: it is a file system's root, or holds the home folder (whose keys
 * and caches no one meant). null where they can be. Files that a tool names are tracked anywhere.
 */
export const whyNotWorkspace = (workspace: string, home: string): string | null => {
  if (dirname(workspace) === workspace) return 'it is the root of a file system'
  if (workspace === home) return 'it is a home folder'
  const down = relative(workspace, home)
  return down !== '' && !down.startsWith('..') ? 'the home folder lies in it' : null
}
