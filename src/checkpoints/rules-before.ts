import type { CodeState } from '../events/file-record.js'
import { rulesWith } from './ignore-rules.js'
import type { ObjectStore } from './objects/object-store.js'
import { maxRules, readRules, rulesOf } from './rule-files.js'
import { inWorkspace, type OwnRules, type Scanned, type ScanRequest } from './scan.js'
import type { TreePath } from './tree-path.js'

/** What hides all of a folder: where nobody knows what its rules were, nothing in it counts as visible then. */
const hidesAll = '*'

/**
 * The rules that held at the last search, where they are not those on disk; null where they are. Those in files that hide
 * themselves are known only as long as they did not change; such a file that came since holds from then on, as do the built-in
 * rules: what a tool makes with a folder of its own is left out.
 */
export const rulesBefore = async (
  request: ScanRequest & { readonly store: ObjectStore },
  scan: NonNullable<CodeState['scan']>,
  found: Pick<Scanned, 'rules'>,
): Promise<OwnRules | null> => {
  const { work, workspace, store } = request
  const now = (path: TreePath) => found.rules.get(path) ?? readRules(work, workspace, folderOf(path))
  const before = new Map<TreePath, string | null>()
  let isSame = true
  for (const { path, oid } of scan.hidden ?? []) {
    const file = now(path)
    before.set(path, file !== null && file.oid === oid ? file.text : hidesAll)
    isSame &&= file?.oid === oid
  }
  for (const { path, kind, oid } of scan.rules.values()) {
    const file = now(path)
    const then = kind === 'file' ? (oid as string) : null
    if (then === null) before.set(path, null)
    else before.set(path, file !== null && file.oid === then ? file.text : await textOf(store, then))
    isSame &&= (file?.oid ?? null) === then
  }
  if (isSame && [...found.rules.keys()].every((path) => before.has(path))) return null
  return (folder, above) => {
    const known = before.get(rulesOf(folder))
    if (known !== undefined) return known
    const file = readRules(work, workspace, folder)
    if (file === null) return null
    // That search did not say which rules hid themselves: these may be older.
    if (scan.hidden === undefined) return hidesAll
    const rules = rulesWith(above, inWorkspace(folder), file.text)
    return rules.ignores(inWorkspace(rulesOf(folder))) ? file.text : null
  }
}

const folderOf = (path: TreePath): TreePath => path.slice(0, path.lastIndexOf('/'))

/** A session that came without its code has no text of them here. */
const textOf = async (store: ObjectStore, oid: string): Promise<string> =>
  store.has(oid) ? (await store.read(oid)).bytes.subarray(0, maxRules).toString() : hidesAll
