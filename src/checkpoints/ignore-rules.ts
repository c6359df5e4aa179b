import ignore, { type Ignore } from 'ignore'
import { madeByTools, versionControl } from './ignored-names.js'

const matcher = (): Ignore => ignore({ ignorecase: false })
const always = matcher().add([...versionControl])

/** Whether a name is left out whatever any `.gitignore` says. */
export const isAlwaysIgnored = (name: string): boolean => always.ignores(name)

/** The rules of a folder: paths are relative to the workspace, a folder's end in `/`. */
export type Rules = Ignore

/** Those of the workspace before any `.gitignore` is read. */
export const builtInRules = (): Rules => matcher().add([...madeByTools])

/** The rules below a folder with a `.gitignore` of its own: those above it, then its lines, as if they stood in the workspace's. */
export const rulesWith = (above: Rules, folder: string, text: string): Rules =>
  matcher()
    .add(above)
    .add(text.split(/\r?\n/).flatMap((line) => rebased(line, folder)))

// `!*.log` in `docs` is `!/docs/**/*.log` in the workspace.
const rebased = (line: string, folder: string): readonly string[] => {
  if (line.trim() === '' || line.startsWith('#')) return []
  if (folder === '') return [line]
  const sign = line.startsWith('!') ? '!' : ''
  const pattern = line.slice(sign.length)
  const isAnchored = pattern.replace(/\/\s*$/, '').includes('/')
  const prefix = `/${folder.replace(/[\\*?[\]!# ]/g, '\\$&')}`
  return [`${sign}${prefix}${isAnchored ? '' : '/**'}/${pattern.replace(/^\//, '')}`]
}
