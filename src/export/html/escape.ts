const entities: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' }

/** Text for a quoted attribute, or an element. Neither can end in it, nor can a comment, a script or a `noscript`. */
export const escaped = (text: string): string => text.replace(/[&<>"]/g, (char) => entities[char] as string)

/** JSON for an attribute in single quotes, which has none of its own to escape. */
export const escapedJson = (value: unknown): string =>
  JSON.stringify(value).replace(/[&<>']/g, (char) => (char === "'" ? '&#39;' : (entities[char] as string)))

const characters: Readonly<Record<string, string>> = {
  '&amp;': '&',
  '&lt;': '<',
  '&gt;': '>',
  '&quot;': '"',
  '&#39;': "'",
}

/** What a browser takes for the text of markup that this folder makes. */
export const textOfMarkup = (html: string): string =>
  html.replace(/<[^>]*>/g, '').replace(/&(amp|lt|gt|quot|#39);/g, (entity) => characters[entity] as string)

/** Marks of redaction as elements; `html` is markup of ours, whose attributes hold no `>`. */
export const withMarks = (html: string): string =>
  html.includes('[redacted')
    ? html.replace(/(<[^>]*>)|\[redacted(?:: [^\]<>]{1,80})?\]/g, (found, tag) =>
        tag === undefined ? `<mark>${found}</mark>` : found,
      )
    : html

/** Text for an element only: quotes stand as they are, since code is full of them. */
const escapedText = (text: string): string => text.replace(/[&<>]/g, (char) => entities[char] as string)

/** A text on its own, marks shown: for an element, not for an attribute. */
export const shown = (text: string): string => withMarks(escapedText(text))

/** Markup of ours without what only attributes need. */
export const plainQuotes = (html: string): string =>
  html.includes('&quot;') ? html.replace(/(<[^>]*>)|&quot;/g, (_found, tag?: string) => tag ?? '"') : html

/** In a `pre` the first newline would be taken for layout. */
export const preText = (text: string): string => `${text.startsWith('\n') ? '\n' : ''}${shown(text)}`
