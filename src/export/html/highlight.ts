import hljs from 'highlight.js/lib/common'

/** Longer code is shown plain: nobody reads that much of it for its colours. */
const mostChars = 24_000

const aliases: Readonly<Record<string, string>> = {
  sh: 'bash',
  shell: 'bash',
  console: 'bash',
  zsh: 'bash',
  ts: 'typescript',
  tsx: 'typescript',
  js: 'javascript',
  jsx: 'javascript',
  py: 'python',
  html: 'xml',
  yml: 'yaml',
  toml: 'ini',
  jsonc: 'json',
}

/** The page's seven colours, by the classes of the highlighter. */
const colours: Readonly<Record<string, string>> = {
  keyword: 'K',
  built_in: 'B',
  type: 'B',
  literal: 'N',
  number: 'N',
  symbol: 'N',
  string: 'S',
  regexp: 'S',
  char: 'S',
  comment: 'C',
  quote: 'C',
  doctag: 'C',
  meta: 'M',
  title: 'T',
  section: 'T',
  name: 'T',
  'selector-tag': 'T',
  'selector-class': 'T',
  'selector-id': 'T',
  attr: 'A',
  attribute: 'A',
  property: 'A',
  variable: 'A',
  'template-variable': 'A',
  bullet: 'M',
  link: 'S',
  params: '',
}

/**
 * Where the colours of a code are, as `K5.3`: class, characters since the last one, length (base 36). The page lays them
 * over the text by the browser's own highlights, so that a page with a thousand code blocks has no element for any token.
 * '' for a language that is not known.
 */
export const colouring = (code: string, lang: string | undefined): string => {
  const language = aliases[lang ?? ''] ?? lang
  if (language === undefined || code.length > mostChars || hljs.getLanguage(language) === undefined) return ''
  const html = hljs.highlight(code, { language, ignoreIllegals: true }).value
  return spelled(rangesIn(html), code.length)
}

interface Range {
  readonly colour: string
  readonly start: number
  readonly end: number
}

/** The innermost class of each character, as ranges in order. */
function* rangesIn(html: string): Generator<Range> {
  const open: string[] = []
  let at = 0
  for (const [token] of html.matchAll(/<span class="[^"]*">|<\/span>|&[#\w]+;|[^<&]+/g)) {
    if (token.startsWith('<span')) {
      const [, name = ''] = /hljs-([\w-]+)/.exec(token) ?? []
      open.push(colours[name] ?? open.at(-1) ?? '')
    } else if (token === '</span>') open.pop()
    else {
      const length = token.startsWith('&') ? 1 : token.length
      const colour = open.at(-1) ?? ''
      if (colour !== '') yield { colour, start: at, end: at + length }
      at += length
    }
  }
}

const spelled = (ranges: Iterable<Range>, length: number): string => {
  const joined: Range[] = []
  for (const range of ranges) {
    const last = joined.at(-1)
    if (last?.colour === range.colour && last.end === range.start)
      joined[joined.length - 1] = { ...last, end: range.end }
    else joined.push(range)
  }
  let at = 0
  let text = ''
  for (const { colour, start, end } of joined) {
    if (end > length) break
    text += `${colour}${start === at ? '' : (start - at).toString(36)}.${(end - start).toString(36)}`
    at = end
  }
  return text
}
