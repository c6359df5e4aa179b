import { build } from './chunks.js'
import { all } from './dom.js'

/** On paper everything is unfolded. */
export const unfoldForPrinting = (): void => {
  let closed: HTMLDetailsElement[] = []
  const unfold = (): void => {
    for (const chunk of all('.seg.on .c, #context .c')) build(chunk)
    closed = [...document.querySelectorAll<HTMLDetailsElement>('main details:not([open], .xd)')]
    for (const fold of closed) fold.open = true
  }
  const fold = (): void => {
    for (const each of closed) each.open = false
    closed = []
  }
  addEventListener('beforeprint', unfold)
  addEventListener('afterprint', fold)
}
