import { branchOf, showBranch, shownBranch } from './branches.js'
import { reveal, wholeId } from './chunks.js'
import { all, byId } from './dom.js'

/** Goes to an event, a turn, a branch: wherever it is, it is built, shown, and brought into the window. */
export const goTo = (id: string, hasFocus = false): boolean => {
  if (/^s\d+$/.test(id)) {
    if (byId(id) === null) return false
    showBranch(Number(id.slice(1)))
    turnsChanged()
    const first = byId(id)?.querySelector<HTMLElement>('.turn:not(.off)') ?? visibleTurns()[0]
    first?.scrollIntoView()
    return true
  }
  const target = reveal(id)
  if (target === null) return false
  if (target.closest('.seg:not(.on), .off') !== null) {
    showBranch(branchOf(target))
    turnsChanged()
  }
  for (
    let fold = target.closest('details');
    fold !== null;
    fold = fold.parentElement?.closest('details') ?? null
  )
    fold.open = true
  target.scrollIntoView()
  if (hasFocus) {
    target.tabIndex = -1
    target.focus({ preventScroll: true })
  }
  return true
}

let turns: HTMLElement[] | null = null
const turnsChanged = (): void => {
  turns = null
}

export const visibleTurns = (): HTMLElement[] => {
  turns ??= all('.turn').filter((turn) => turn.closest('.seg:not(.on), .off') === null)
  return turns
}

/** Which turn the top of the window is in. */
export const turnInView = (): number => {
  const list = visibleTurns()
  const line = 130
  const isAtEnd = scrollY > 0 && scrollY + innerHeight >= document.documentElement.scrollHeight - 2
  if (isAtEnd) return list.length - 1
  let [low, high] = [0, list.length - 1]
  while (low < high) {
    const middle = Math.ceil((low + high) / 2)
    if ((list[middle]?.getBoundingClientRect().top ?? 0) <= line) low = middle
    else high = middle - 1
  }
  return low
}

export const nextTurn = (step: number): void => {
  const list = visibleTurns()
  const at = turnInView()
  const isAbove = (list[0]?.getBoundingClientRect().top ?? 0) > 130
  const to = isAbove && step > 0 ? 0 : at + step
  const turn = list[Math.max(0, Math.min(list.length - 1, to))]
  if (to < 0 || turn === undefined) scrollTo({ top: 0 })
  else goTo(turn.id, true)
}

/** Marks the turn in view in the list. */
export const followScrolling = (): void => {
  let isWaiting = false
  let marked: Element | null = null
  const mark = (): void => {
    isWaiting = false
    const id = visibleTurns()[turnInView()]?.id
    const link =
      id === undefined ? null : document.querySelector(`#side .tl a[href="#${id}"], .cx a[href="#${id}"]`)
    if (link === marked) return
    marked?.removeAttribute('aria-current')
    link?.setAttribute('aria-current', 'true')
    marked = link
    if (link !== null && byId('side')?.matches(':hover') === false) keepInView(link as HTMLElement)
  }
  const later = (): void => {
    if (isWaiting) return
    isWaiting = true
    requestAnimationFrame(mark)
  }
  addEventListener('scroll', later, { passive: true })
  addEventListener('resize', later, { passive: true })
  later()
}

const keepInView = (link: HTMLElement): void => {
  const side = byId('side')
  if (side === null) return
  const [box, view] = [link.getBoundingClientRect(), side.getBoundingClientRect()]
  if (box.top < view.top || box.bottom > view.bottom) side.scrollTop += box.top - view.top - view.height / 3
}

/** What is no escape is itself: an address may have been cut anywhere. */
const decoded = (text: string): string => {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

/** Links within the page, and addresses that people were sent. */
export const followLinks = (): void => {
  const go = (): void => {
    const id = wholeId(decoded(location.hash.slice(1)))
    if (id !== '') goTo(id)
  }
  addEventListener('hashchange', go)
  document.addEventListener('click', (event) => {
    const link = event.target instanceof Element ? event.target.closest('a[href^="#"]') : null
    const id = link?.getAttribute('href')?.slice(1)
    if (id === undefined || event.defaultPrevented || event.metaKey || event.ctrlKey) return
    byId('side')?.classList.remove('open')
    if (id === location.hash.slice(1) || /^s\d+$/.test(id)) {
      event.preventDefault()
      if (id !== location.hash.slice(1)) history.pushState(null, '', `#${id}`)
      goTo(id)
    } else reveal(id)
  })
  go()
  showBranch(shownBranch())
}
