import type { CodeState, LeftOut } from '../events/file-record.js'
import type { ObjectStore } from './objects/object-store.js'
import { rulesBefore } from './rules-before.js'
import { cutOff, type ScanLimits, type Scanned, type ScanRequest, scanFrom } from './scan.js'
import { absoluteOf, type TreePath } from './tree-path.js'

/** Why a file that a search meets first may have been there at the search before; null where it was not. */
export type Doubt = (path: TreePath) => string | null

/** What a search says beyond what it found, held against the one before it. */
export interface Since {
  /** What came since, and would have been found had the rules not changed as well. */
  readonly more: readonly TreePath[]
  /** Where there is too much of it. */
  readonly left: readonly LeftOut[]
  /** null where no search came before. */
  readonly doubt: Doubt | null
}

type Ports = ScanRequest & { readonly store: ObjectStore; readonly limits: ScanLimits }

/**
 * Judges what a search found by the rules that held at the one before: what these show, and that one did not find, came since.
 * In doubt it did not: what was there all along and is only seen now must never be removed by an undo (INV-9).
 */
export const sinceLastSearch = async (ports: Ports, known: CodeState, found: Scanned): Promise<Since> => {
  const { scan, files } = known
  if (scan === null) return { more: [], left: [], doubt: null }
  const own = await rulesBefore(ports, scan, found)
  const then = own === null ? null : scanFrom(ports, 'workspace', own).paths
  const doubt = doubtOf(ports, scan, then === null ? null : new Set(then))
  const now = new Set(found.paths)
  const more = (then ?? []).filter((path) => !now.has(path) && !files.has(path) && doubt(path) === null)
  const { limits } = ports
  const room = Math.max(0, limits.files - now.size)
  return {
    more: more.slice(0, room),
    left: more.slice(room, room + 1).map((path) => cutOff(path, limits)),
    doubt,
  }
}

/** `visible`: what the rules of that search show now; null where they still hold. */
const doubtOf = (
  { work, workspace }: Ports,
  scan: NonNullable<CodeState['scan']>,
  visible: ReadonlySet<TreePath> | null,
): Doubt => {
  const searchedAt = Date.parse(scan.at)
  return (path) => {
    if (!scan.complete) return 'the search before was cut off'
    const left = scan.left.find((one) => path === one.path || path.startsWith(`${one.path}/`))
    if (left !== undefined) return `left out before: ${left.why}`
    if (visible !== null && !visible.has(path)) return 'ignored before'
    const birth = work.lstat(absoluteOf(workspace, path))?.birthMs ?? 0
    return birth > 0 && birth < searchedAt - slack ? 'older than the search before' : null
  }
}
/** How far the file system's clock may be from ours (ms). */
const slack = 5000
