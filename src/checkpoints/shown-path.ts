import { isOutside, type TreePath } from './tree-path.js'

/** A path as people name it: relative to the workspace, or absolute outside of it. */
export const shownPath = (path: TreePath): string =>
  isOutside(path) ? path.slice('outside'.length) : path.slice('workspace/'.length)

/** Quoted as git does it where a name holds a control character, a quote or a backslash. */
export const quoted = (name: string): string =>
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is looked for
  /[\u0000-\u001f\u007f"\\]/.test(name) ? `"${name.replace(/[\u0000-\u001f\u007f"\\]/g, escaped)}"` : name

const letters: Readonly<Record<string, string>> = {
  '\n': '\\n',
  '\t': '\\t',
  '\r': '\\r',
  '"': '\\"',
  '\\': '\\\\',
}

const escaped = (character: string): string =>
  letters[character] ?? `\\${character.charCodeAt(0).toString(8).padStart(3, '0')}`
