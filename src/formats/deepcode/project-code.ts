import { basename, resolve } from 'node:path'
import { sha256 } from '../../events/id.js'

const longestCode = 64
const longestName = 47

/** The name of a project's folder in Deep Code, from its root as given. Not injective: `/a/b-c` and `/a-b/c` share one. */
export const projectCode = (root: string): string => {
  const plain = root.replace(/[\\/]/g, '-').replace(/:/g, '')
  if (plain.length <= longestCode) return plain
  const path = resolve(root)
  const name = basename(path)
    .replace(/[^A-Za-z0-9._-]/g, '-')
    .replace(/-+/g, '-')
    .replace(/^[-.]+|[-.]+$/g, '')
    .slice(0, longestName)
    .replace(/[-.]+$/, '')
  return `${name || 'project'}-${sha256(path).slice(0, 16)}`
}
