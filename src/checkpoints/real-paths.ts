import { basename, dirname, join, parse, sep } from 'node:path'
import type { WorkFs } from './work-fs.js'

/** Longer chains of symlinks no system follows. */
const mostLinks = 40

/**
 * Where a path leads once every symlink in it is followed, also those that lead to nothing yet: who writes through such a one
 * makes that file. null for a loop. What is not there is spelled as it is named.
 */
export const leadsTo = (work: WorkFs, absolute: string): string | null => {
  const { root } = parse(absolute)
  let at = root
  let names = absolute.slice(root.length).split(sep)
  for (let links = 0; names.length > 0; ) {
    const [name = '', ...rest] = names
    names = rest
    if (name === '' || name === '.') continue
    const next = name === '..' ? dirname(at) : join(at, name)
    if (work.lstat(next)?.kind !== 'link') {
      at = next
      continue
    }
    if (++links > mostLinks) return null
    const target = Buffer.from(work.readLink(next)).toString()
    const { root: top } = parse(target)
    if (top !== '') at = top
    names = [...target.slice(top.length).split(sep), ...rest]
  }
  return asOnDisk(work, at)
}

/** The real path has the spelling of the disk, where that ignores case. */
const asOnDisk = (work: WorkFs, path: string): string => {
  const real = work.realPath(path)
  if (real !== null || dirname(path) === path) return real ?? path
  return join(asOnDisk(work, dirname(path)), basename(path))
}

/** The nearest that stands above a path and is there. */
export const nearestAbove = (work: WorkFs, path: string): string => {
  const above = dirname(path)
  return above === path || work.lstat(above) !== null ? above : nearestAbove(work, above)
}
