/** An element by its id; null where the page has none yet. */
export const byId = (id: string): HTMLElement | null => document.getElementById(id)

export const all = (selector: string, within: ParentNode = document): HTMLElement[] => [
  ...within.querySelectorAll<HTMLElement>(selector),
]

/** A button whose name is drawn by the styles, so that the page's own text stays what was said. */
export const button = (label: string, title = label): HTMLButtonElement => {
  const made = document.createElement('button')
  made.type = 'button'
  made.dataset.l = label
  made.setAttribute('aria-label', title)
  made.title = title
  return made
}

export const make = <K extends keyof HTMLElementTagNameMap>(
  tag: K,
  name: string,
  text = '',
): HTMLElementTagNameMap[K] => {
  const made = document.createElement(tag)
  if (name !== '') made.className = name
  if (text !== '') made.textContent = text
  return made
}
