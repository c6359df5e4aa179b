import type { Piece, TextKind } from '../model/entry.js'
import { visible } from '../visible.js'
import { diffOfTexts, isDiff } from './edit-diff.js'
import { membersIn, onOneLine, prettyJson } from './json.js'
import { languageOf } from './languages.js'

/** A call's arguments as a person reads them. */
export interface CallLayout {
  /** In one line. */
  readonly about: string
  readonly pieces: readonly Piece[]
  /** Whether the pieces are the arguments as they stand. */
  readonly isWhole: boolean
}

type Arguments = Readonly<Record<string, unknown>>

/**
 * Commands as commands, edits as diffs, files as code, all else as JSON. It goes by the members that tools of this kind
 * have, not by tools' names: every agent has its own. Members that the layout has no place for are shown as JSON below.
 */
export const layOutCall = (raw: string): CallLayout => {
  if (raw.trim() === '' || raw.trim() === '{}') return { about: '', pieces: [], isWhole: true }
  const given = membersIn(raw)
  if (given === null) return ofText(raw)
  for (const layout of layouts) {
    const laid = layout(given)
    if (laid !== null) return finished(given, laid)
  }
  const json = prettyJson(raw)
  return { about: visible(shortAbout(given)), pieces: [piece('json', json ?? raw)], isWhole: false }
}

interface Laid {
  readonly about: string
  readonly pieces: readonly Piece[]
  /** Members that the layout shows. */
  readonly used: readonly string[]
}

type Layout = (given: Arguments) => Laid | null

const piece = (
  kind: TextKind,
  text: string,
  rest: { lang?: string | undefined; label?: string } = {},
): Piece => ({
  kind,
  text: visible(text),
  ...(rest.lang === undefined ? {} : { lang: rest.lang }),
  ...(rest.label === undefined ? {} : { label: visible(rest.label) }),
})

/** More than a line is no line: it is shown as a text of its own. */
const longestAbout = 200

const finished = (given: Arguments, laid: Laid): CallLayout => {
  const { used } = laid
  const isLine = laid.about.length <= longestAbout && !laid.about.includes('\n')
  const about = isLine ? laid.about : ''
  const pieces = isLine ? laid.pieces : [piece('plain', laid.about), ...laid.pieces]
  const rest = Object.entries(given).filter(([name]) => !used.includes(name))
  const json = onOneLine(JSON.stringify(Object.fromEntries(rest), null, 2))
  return {
    about: visible(about),
    pieces: rest.length === 0 ? pieces : [...pieces, piece('json', json)],
    isWhole: false,
  }
}

const ofText = (raw: string): CallLayout => {
  const json = prettyJson(raw)
  if (json !== null) return { about: '', pieces: [piece('json', json)], isWhole: false }
  const kind = isDiff(raw) ? 'diff' : 'plain'
  return { about: '', pieces: [piece(kind, raw)], isWhole: true }
}

/** The first of these members that is a text that is not empty. */
const textIn = (given: Arguments, names: readonly string[]): readonly [string, string] | null => {
  for (const name of names) {
    const value = given[name]
    if (typeof value === 'string' && value !== '') return [name, value]
  }
  return null
}

const pathNames = [
  'file_path',
  'filePath',
  'path',
  'filename',
  'file',
  'absolute_path',
  'notebook_path',
  'dir_path',
]
const commandNames = ['command', 'cmd', 'script']
const aboutNames = ['description', 'justification']

const command: Layout = (given) => {
  const [name, text] = textIn(given, commandNames) ?? listedCommand(given) ?? []
  if (name === undefined || text === undefined) return null
  const said = textIn(given, aboutNames)
  return {
    about: said?.[1] ?? '',
    pieces: [isDiff(text) ? piece('diff', text) : piece('command', text, { lang: 'bash' })],
    used: [name, ...(said === null ? [] : [said[0]])],
  }
}

/** `["bash", "-lc", "make"]` is `make`; any other list is quoted where a shell would need it. */
const listedCommand = (given: Arguments): readonly [string, string] | null => {
  const name = commandNames.find((key) => Array.isArray(given[key]))
  const words = name === undefined ? [] : (given[name] as readonly unknown[])
  if (name === undefined || !words.every((word) => typeof word === 'string') || words.length === 0)
    return null
  const isShell =
    words.length === 3 && /^(\/\S+\/)?(ba|z|da)?sh$/.test(words[0] ?? '') && /^-l?c$/.test(words[1] ?? '')
  return [name, isShell ? (words[2] as string) : words.map(quoted).join(' ')]
}

const quoted = (word: string): string =>
  /^[\w./:=@%+,-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`

const beforeNames = ['old_string', 'oldString', 'oldText', 'old_str', 'old_text']
const afterNames = ['new_string', 'newString', 'newText', 'new_str', 'new_text']

const editIn = (given: Arguments): { readonly diff: string; readonly used: readonly string[] } | null => {
  const before = beforeNames.find((name) => typeof given[name] === 'string')
  const after = afterNames.find((name) => typeof given[name] === 'string')
  if (before === undefined || after === undefined) return null
  return { diff: diffOfTexts(given[before] as string, given[after] as string), used: [before, after] }
}

const edit: Layout = (given) => {
  const path = textIn(given, pathNames)
  const own = editIn(given)
  const several = Array.isArray(given.edits) ? given.edits.map(oneEdit) : []
  const isSeveral = several.length > 0 && several.every((diff) => diff !== null)
  if (own === null && !isSeveral) return null
  const diffs = [...(own === null ? [] : [own.diff]), ...(isSeveral ? (several as readonly string[]) : [])]
  return {
    about: path?.[1] ?? '',
    pieces: diffs.map((diff) => piece('diff', diff, { lang: languageOf(path?.[1] ?? '') })),
    used: [...(path === null ? [] : [path[0]]), ...(own?.used ?? []), ...(isSeveral ? ['edits'] : [])],
  }
}

/** An edit of a list that says nothing but what it replaces; null for any other. */
const oneEdit = (item: unknown): string | null => {
  if (typeof item !== 'object' || item === null) return null
  const found = editIn(item as Arguments)
  return found !== null && Object.keys(item).length === found.used.length ? found.diff : null
}

const patch: Layout = (given) => {
  const found = textIn(given, ['patch', 'input', 'diff', 'patchText'])
  if (found === null || !isDiff(found[1])) return null
  const files = [...found[1].matchAll(/^\*\*\* (?:Add|Update|Delete) File: (.+)$/gm)].map(([, path]) => path)
  return { about: files.join(', '), pieces: [piece('diff', found[1])], used: [found[0]] }
}

const write: Layout = (given) => {
  const path = textIn(given, pathNames)
  const content = textIn(given, ['content', 'file_text', 'contents', 'new_source'])
  if (path === null || content === null) return null
  return {
    about: path[1],
    pieces: [piece('code', content[1], { lang: languageOf(path[1]) })],
    used: [path[0], content[0]],
  }
}

/** Texts for people and models: what a sub-agent is asked, a plan, a thought. */
const prompt: Layout = (given) => {
  const text = textIn(given, ['prompt', 'plan', 'thought', 'instructions'])
  if (text === null) return null
  const said = textIn(given, aboutNames)
  return {
    about: said?.[1] ?? '',
    pieces: [piece('plain', text[1], { label: text[0] })],
    used: [text[0], ...(said === null ? [] : [said[0]])],
  }
}

const path: Layout = (given) => {
  const found = textIn(given, pathNames)
  return found === null || typeof given.pattern === 'string' || typeof given.query === 'string'
    ? null
    : { about: found[1], pieces: [], used: [found[0]] }
}

const search: Layout = (given) => {
  const found = textIn(given, ['pattern', 'query', 'url', 'q'])
  return found === null ? null : { about: found[1], pieces: [], used: [found[0]] }
}

const layouts: readonly Layout[] = [edit, patch, command, write, prompt, path, search]

/** The first short text among the arguments. */
const shortAbout = (given: Arguments): string => {
  const text = Object.values(given).find((value) => typeof value === 'string' && value !== '')
  return typeof text === 'string' && text.length <= 80 && !text.includes('\n') ? text : ''
}
