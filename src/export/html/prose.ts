import MarkdownIt from 'markdown-it'
import { FilterXSS } from 'xss'
import { escaped, plainQuotes, preText, withMarks } from './escape.js'
import { colouring } from './highlight.js'

/** Raw HTML is text; links are made below. */
const markdown = new MarkdownIt({ html: false, linkify: false, breaks: false, typographer: false })

/** Only these lead anywhere: in a report that was sent to someone a relative path leads nowhere. */
const linked = /^(https?:\/\/|mailto:)/i

type Token = Parameters<NonNullable<typeof markdown.renderer.rules.image>>[0][number]
const attributeOf = (token: Token | undefined, name: string): string => String(token?.attrGet(name) ?? '')

markdown.renderer.rules.link_open = (tokens, at) => {
  const href = attributeOf(tokens[at], 'href')
  return linked.test(href)
    ? `<a href="${escaped(href)}" rel="noopener noreferrer nofollow" target="_blank">`
    : `<span title="${escaped(href)}">`
}
markdown.renderer.rules.link_close = (tokens, at) => {
  let depth = 0
  for (let i = at; i >= 0; i--) {
    const type = tokens[i]?.type
    if (type === 'link_close') depth++
    if (type === 'link_open' && --depth === 0)
      return linked.test(attributeOf(tokens[i], 'href')) ? '</a>' : '</span>'
  }
  return ''
}
/** Nothing is loaded: an image is named. */
markdown.renderer.rules.image = (tokens, at, options, env, self) => {
  const token = tokens[at]
  const src = attributeOf(token, 'src')
  const alt = self.renderInlineAsText(token?.children ?? [], options, env)
  return `<span title="${escaped(src)}">[image: ${escaped(alt || src)}]</span>`
}
markdown.renderer.rules.fence = (tokens, at) => {
  const token = tokens[at]
  return codeBlock(token?.content ?? '', token?.info.trim().split(/\s+/)[0] || undefined)
}
markdown.renderer.rules.code_block = (tokens, at) => codeBlock(tokens[at]?.content ?? '', undefined)

/** Headings of an answer stand below those of the page. */
markdown.renderer.rules.heading_open = (tokens, at) => `<${headingFor(tokens[at]?.tag)}>`
markdown.renderer.rules.heading_close = (tokens, at) => `</${headingFor(tokens[at]?.tag)}>\n`
const headingFor = (tag = 'h1'): string => `h${Math.min(6, Number(tag.slice(1)) + 3)}`

for (const cell of ['th_open', 'td_open'] as const)
  markdown.renderer.rules[cell] = (tokens, at) => {
    const aligned = /text-align:(\w+)/.exec(attributeOf(tokens[at], 'style'))?.[1]
    return `<${cell.slice(0, 2)}${aligned === undefined ? '' : ` class="${aligned}"`}>`
  }

const codeBlock = (code: string, lang: string | undefined): string => {
  const text = code.replace(/\n$/, '')
  const colours = colouring(text, lang?.toLowerCase())
  const label = lang === undefined || !/^[\w+#.-]{1,20}$/.test(lang) ? '' : ` data-lang="${lang}"`
  return `<pre${label}${colours === '' ? '' : ` data-h="${colours}"`}>${preText(text)}</pre>\n`
}

const plain = {
  h4: [],
  h5: [],
  h6: [],
  p: [],
  br: [],
  hr: [],
  em: [],
  strong: [],
  s: [],
  code: [],
  ul: [],
  li: [],
}

/** A second look at what the renderer made: only what it is meant to make goes through. */
const sanitizer = new FilterXSS({
  whiteList: {
    ...plain,
    ol: ['start'],
    blockquote: [],
    pre: ['data-lang', 'data-h'],
    table: [],
    thead: [],
    tbody: [],
    tr: [],
    th: ['class'],
    td: ['class'],
    a: ['href', 'rel', 'target'],
    span: ['title'],
  },
  // What is not on the list is shown as text, so that nothing is missing.
  stripIgnoreTag: false,
  css: false,
})

/** Markdown as markup that can run and load nothing. */
export const prose = (text: string): string =>
  withMarks(plainQuotes(sanitizer.process(markdown.render(text)).trimEnd()))
