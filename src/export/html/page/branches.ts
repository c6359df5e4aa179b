import { build, reveal } from './chunks.js'
import { all, byId } from './dom.js'

/** Segments that were written in several parts become one again. */
export const joinParts = (): void => {
  for (const part of all('.seg[data-more]')) {
    byId(`s${part.dataset.more}`)?.append(...part.childNodes)
    part.remove()
  }
}

interface Link {
  readonly segment: number
  /** The last entry and turn of it that are on the branch; null: all of it. */
  readonly cut: { readonly entry: string; readonly turn: number } | null
}

const chainTo = (segment: number): Link[] => {
  const chain: Link[] = []
  let at = segment
  let cut: Link['cut'] = null
  for (;;) {
    chain.unshift({ segment: at, cut })
    const data = byId(`s${at}`)?.dataset
    if (data?.above === undefined || chain.length > 10_000) return chain
    cut = { entry: data.cut ?? '', turn: Number(data.turn) }
    at = Number(data.above)
  }
}

let current = 0
export const shownBranch = (): number => current

/** Shows one branch: the segments it goes through, each as far as it goes. */
export const showBranch = (segment: number): void => {
  current = segment
  const chain = new Map(chainTo(segment).map((link) => [link.segment, link]))
  for (const part of all('.seg')) {
    const link = chain.get(Number(part.id.slice(1)))
    part.classList.toggle('on', link !== undefined)
    if (link !== undefined) cutAt(part, link.cut)
  }
  for (const list of all('.tl')) {
    const link = chain.get(Number(list.dataset.s))
    list.classList.toggle('off', link === undefined)
    if (link !== undefined) cutList(list, link.cut)
  }
  for (const link of all('.tree a[data-s]'))
    if (Number(link.dataset.s) === segment) link.setAttribute('aria-current', 'true')
    else link.removeAttribute('aria-current')
}

const cutAt = (part: HTMLElement, cut: Link['cut']): void => {
  for (const hidden of all('.off', part)) hidden.classList.remove('off')
  if (cut === null) return
  const turns = all(':scope > .turn', part)
  for (const turn of turns) turn.classList.toggle('off', Number(turn.id.slice(1)) > cut.turn)
  const last = cut.entry === '' ? null : reveal(cut.entry)
  const entry = last?.closest<HTMLElement>('.c > *') ?? null
  const chunk = entry?.parentElement ?? null
  if (entry === null || chunk === null || !part.contains(entry)) return
  for (let next = entry.nextElementSibling; next !== null; next = next.nextElementSibling)
    next.classList.add('off')
  for (let next = chunk.nextElementSibling; next !== null; next = next.nextElementSibling)
    next.classList.add('off')
}

const cutList = (list: HTMLElement, cut: Link['cut']): void => {
  const isUncut = cut === null
  if (isUncut && list.querySelector('.off') === null) return
  build(list)
  for (const item of list.children) {
    const turn = Number(item.firstElementChild?.getAttribute('href')?.slice(2))
    item.classList.toggle('off', !isUncut && turn > cut.turn)
  }
}

/** The segment that an element stands in. */
export const branchOf = (element: Element): number => {
  const part = element.closest('.seg')
  return part === null ? current : Number(part.id.slice(1))
}
