import { all } from './dom.js'

/** The colours of code near the window, laid over its text by the browser, without an element for any token. */
const isAble = typeof Highlight === 'function' && CSS.highlights !== undefined
const names = ['K', 'B', 'N', 'S', 'C', 'M', 'T', 'A']
const layers = new Map<string, Highlight>()
const laid = new WeakMap<Element, readonly (readonly [string, AbstractRange])[]>()

if (isAble)
  for (const name of names) {
    const layer = new Highlight()
    layers.set(name, layer)
    CSS.highlights.set(name, layer)
  }

export const colour = (chunk: Element): void => {
  if (!isAble || laid.has(chunk)) return
  const ranges = all('[data-h]', chunk).flatMap(rangesOf)
  for (const [name, range] of ranges) layers.get(name)?.add(range)
  laid.set(chunk, ranges)
}

export const bleach = (chunk: Element): void => {
  for (const [name, range] of laid.get(chunk) ?? []) layers.get(name)?.delete(range)
  laid.delete(chunk)
}

const rangesOf = (block: HTMLElement): (readonly [string, AbstractRange])[] => {
  const place = placesIn(block)
  const ranges: (readonly [string, AbstractRange])[] = []
  let at = 0
  for (const [, name = '', skip = '', length = ''] of (block.dataset.h ?? '').matchAll(
    /([A-Z])([0-9a-z]*)\.([0-9a-z]+)/g,
  )) {
    at += skip === '' ? 0 : Number.parseInt(skip, 36)
    const end = at + Number.parseInt(length, 36)
    const [from, to] = [place(at), place(end - 1)]
    if (from !== null && to !== null)
      ranges.push([
        name,
        new StaticRange({
          startContainer: from.node,
          startOffset: from.offset,
          endContainer: to.node,
          endOffset: to.offset + 1,
        }),
      ])
    at = end
  }
  return ranges
}

/** Where the n-th character of a block's text is; asked with growing n. */
const placesIn = (
  block: Element,
): ((at: number) => { readonly node: Node; readonly offset: number } | null) => {
  const walker = document.createTreeWalker(block, NodeFilter.SHOW_TEXT)
  let node = walker.nextNode()
  let start = 0
  return (at) => {
    while (node !== null && at >= start + (node as Text).length) {
      start += (node as Text).length
      node = walker.nextNode()
    }
    return node === null ? null : { node, offset: at - start }
  }
}
