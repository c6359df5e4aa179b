import { baseOf, type Delta, textOfDelta } from '../delta.js'
import { linkTimes } from './chunks.js'
import { all, button, make } from './dom.js'

/** The text of a block as it was written. */
const rawOf = (block: HTMLElement): string => {
  const shown = block.textContent ?? ''
  const delta = block.dataset.raw
  return delta === undefined ? shown : textOfDelta(baseOf(shown), JSON.parse(delta) as Delta)
}

/** A message and those that go on with it. */
const groupOf = (article: Element): HTMLElement[] => {
  const group = [article as HTMLElement]
  for (
    let next = article.nextElementSibling;
    next?.classList.contains('co') === true;
    next = next.nextElementSibling
  )
    group.push(next as HTMLElement)
  return group
}

const textOf = (article: Element): string =>
  [...article.children]
    .flatMap((child) => (child.matches('header, .raw') ? [] : [textOfChild(child)]))
    .filter((text) => text !== '')
    .join('\n\n')

const textOfChild = (child: Element): string => {
  if (child.matches('.ca')) return textOfCall(child)
  const blocks = child.matches('.md, .tx, pre')
    ? [child as HTMLElement]
    : all('.md, .tx, pre', child).filter(isOuter)
  return blocks.map(rawOf).join('\n\n')
}

const isOuter = (block: Element): boolean => block.parentElement?.closest('.md') === null

const textOfCall = (call: Element): string => {
  const name = call.querySelector('h4')?.textContent ?? ''
  const given = call.querySelector<HTMLElement>('.in')
  const result = call.querySelector('.re')
  return [`${name} ${given === null ? '' : rawOf(given)}`.trim(), result === null ? '' : textOfChild(result)]
    .filter((text) => text !== '')
    .join('\n')
}

/** Buttons on each message of a chunk: its text as it was written, to copy or to see. */
export const addActions = (chunk: Element): void => {
  linkTimes(chunk)
  for (const header of all('.e > header', chunk)) {
    if (header.querySelector('.act') !== null) continue
    const actions = make('span', 'act')
    const copy = button('Copy', 'Copy the text as it was written')
    const raw = button('Raw', 'Show the text as it was written')
    raw.setAttribute('aria-pressed', 'false')
    copy.addEventListener(
      'click',
      () =>
        void copied(
          copy,
          groupOf(header.parentElement as Element)
            .map(textOf)
            .join('\n\n'),
        ),
    )
    raw.addEventListener('click', () => toggle(raw, groupOf(header.parentElement as Element)))
    actions.append(copy, raw)
    header.append(actions)
  }
}

const toggle = (raw: HTMLElement, articles: readonly HTMLElement[]): void => {
  const isRaw = raw.getAttribute('aria-pressed') !== 'true'
  raw.setAttribute('aria-pressed', String(isRaw))
  for (const article of articles) {
    article.classList.toggle('israw', isRaw)
    article.querySelector(':scope > .raw')?.remove()
    if (isRaw) article.append(make('pre', 'raw', textOf(article)))
  }
}

const copied = async (from: HTMLElement, text: string): Promise<void> => {
  const label = from.dataset.l ?? ''
  from.dataset.l = (await copy(text)) ? 'Copied' : 'Not copied'
  setTimeout(() => {
    from.dataset.l = label
  }, 1200)
}

const copy = async (text: string): Promise<boolean> => {
  try {
    await navigator.clipboard.writeText(text)
    return true
  } catch {
    const area = make('textarea', '')
    area.value = text
    document.body.append(area)
    area.select()
    const isDone = document.execCommand('copy')
    area.remove()
    return isDone
  }
}

/** A button over the code block under the pointer. */
export const copyOverBlocks = (): void => {
  const over = button('Copy', 'Copy this block')
  over.className = 'cp1'
  over.hidden = true
  document.body.append(over)
  let block: HTMLElement | null = null
  over.addEventListener('click', () => block !== null && void copied(over, rawOf(block)))
  document.addEventListener('pointerover', ({ target }) => {
    if (!(target instanceof Element) || target === over) return
    block = target.closest<HTMLElement>('pre')
    over.hidden = block === null
    if (block === null) return
    const { top, right } = block.getBoundingClientRect()
    over.style.top = `${top + scrollY + 5}px`
    over.style.left = `${right + scrollX - over.offsetWidth - 6}px`
  })
}
