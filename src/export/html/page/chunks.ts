import { all } from './dom.js'

/** Chunks that are still text in a `noscript`. */
const textOf = (chunk: Element): string | null => {
  const first = chunk.firstElementChild
  return first?.tagName === 'NOSCRIPT' ? (first.textContent ?? '') : null
}

/** Makes elements of a chunk's text. What it says was made harmless when the page was written. */
export const build = (chunk: Element): void => {
  const markup = textOf(chunk)
  if (markup !== null) chunk.innerHTML = markup
}

/** What a chunk says, built or not. */
export const wordsOf = (chunk: Element): string => {
  const markup = textOf(chunk)
  return markup === null ? (chunk.textContent ?? '') : textOfMarkup(markup)
}

const characters: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', '#39': "'" }

const textOfMarkup = (html: string): string =>
  html.replace(/<[^>]*>/g, '').replace(/&(amp|lt|gt|quot|#39);/g, (_, name: string) => characters[name] ?? '')

/** The element of an id; builds the chunk that holds it. */
export const reveal = (id: string): HTMLElement | null => {
  const found = document.getElementById(id)
  if (found !== null) return found
  const attribute = `id="${id}"`
  for (const chunk of all('.c, .tl')) {
    // A text may say the same as an attribute: the element decides.
    if (textOf(chunk)?.includes(attribute) !== true) continue
    build(chunk)
    const element = document.getElementById(id)
    if (element !== null) return element
  }
  return null
}

/** The whole id of an event that an address names by its beginning; an id or anything else as it is. */
export const wholeId = (name: string): string => {
  if (!/^[0-9a-f]{8,31}$/.test(name)) return name
  const found = document.querySelector(`[id^="${name}"]`)
  if (found !== null) return found.id
  const attribute = new RegExp(` id="(${name}[0-9a-f]{${32 - name.length}})"`, 'g')
  for (const chunk of all('.c'))
    for (const [, id = ''] of textOf(chunk)?.matchAll(attribute) ?? []) if (reveal(id) !== null) return id
  return name
}

/** Each time of an event is a link to it; the page holds its id once. */
export const linkTimes = (within: ParentNode): void => {
  for (const link of all('a.at:not([href])', within)) {
    const id = link.closest('[id]')?.id
    if (id !== undefined) link.setAttribute('href', `#${id}`)
  }
}

/** Builds chunks as they come near the window, and tells of each that is near, and of each that is no longer. */
export const watchChunks = (near: (chunk: Element) => void, far: (chunk: Element) => void): void => {
  const observer = new IntersectionObserver(
    (entries) => {
      for (const { target, isIntersecting } of entries) {
        if (!isIntersecting) far(target)
        else {
          build(target)
          near(target)
        }
      }
    },
    { rootMargin: '1200px 0px' },
  )
  for (const chunk of all('.c, .tl')) observer.observe(chunk)
}
