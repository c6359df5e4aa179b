import { build, wordsOf } from './chunks.js'
import { all, button, make } from './dom.js'

/** Where a text is: in each chunk of the shown branch, how often. */
interface Found {
  readonly chunk: HTMLElement
  readonly count: number
}

const isAble = typeof Highlight === 'function' && CSS.highlights !== undefined
/** How long the search may hold up the window (ms). */
const slice = 12

export class Find {
  readonly form = make('form', '')
  readonly #input = make('input', '')
  readonly #said = make('output', '')
  #found: Found[] = []
  #total = 0
  #at = -1
  #run = 0
  #query = ''

  constructor() {
    this.form.id = 'find'
    this.form.setAttribute('role', 'search')
    this.#input.type = 'search'
    this.#input.placeholder = 'Search  /'
    this.#input.setAttribute('aria-label', 'Search this session')
    this.#said.setAttribute('aria-live', 'polite')
    const [back, on] = [button('↑', 'Previous match'), button('↓', 'Next match')]
    back.addEventListener('click', () => this.go(-1))
    on.addEventListener('click', () => this.go(1))
    this.form.append(this.#input, this.#said, back, on)
    this.form.addEventListener('submit', (event) => {
      event.preventDefault()
      this.go(1)
    })
    this.#input.addEventListener('input', () => void this.#look())
    this.#input.addEventListener('keydown', (event) => {
      if (event.key === 'Enter' && event.shiftKey) {
        event.preventDefault()
        this.go(-1)
      } else if (event.key === 'Escape') {
        this.#input.value = ''
        void this.#look()
        this.#input.blur()
      }
    })
  }

  focus(): void {
    this.#input.focus()
    this.#input.select()
  }

  async #look(): Promise<void> {
    const run = ++this.#run
    this.#query = this.#input.value.toLowerCase()
    this.#found = []
    this.#total = 0
    this.#at = -1
    this.#paint([], null)
    if (this.#query === '') return this.#say('')
    let since = performance.now()
    for (const chunk of all('.seg.on .c')) {
      if (chunk.closest('.off') !== null) continue
      const count = countOf(wordsOf(chunk).toLowerCase(), this.#query)
      if (count > 0) {
        this.#found.push({ chunk, count })
        this.#total += count
      }
      if (performance.now() - since < slice) continue
      this.#say(`${this.#total}…`)
      await new Promise((resolve) => setTimeout(resolve))
      if (run !== this.#run) return
      since = performance.now()
    }
    this.#say(this.#total === 0 ? 'no match' : `${this.#total}`)
  }

  /** To the next match, or with -1 the one before; round and round. */
  go(step: number): void {
    if (this.#total === 0) return
    this.#at = (this.#at + step + this.#total + (this.#at < 0 && step < 0 ? 1 : 0)) % this.#total
    let rest = this.#at
    const found = this.#found.find(({ count }) => {
      if (rest < count) return true
      rest -= count
      return false
    })
    if (found === undefined) return
    build(found.chunk)
    const ranges = rangesIn(found.chunk, this.#query)
    const range = ranges[Math.min(rest, ranges.length - 1)]
    this.#say(`${this.#at + 1} of ${this.#total}`)
    if (range === undefined) return
    this.#paint(ranges, range)
    const holder = range.startContainer.parentElement
    for (
      let fold = holder?.closest('details') ?? null;
      fold !== null;
      fold = fold.parentElement?.closest('details') ?? null
    )
      fold.open = true
    holder?.scrollIntoView({ block: 'center' })
    bring(range)
  }

  #say(text: string): void {
    this.#said.textContent = text
  }

  #paint(ranges: readonly Range[], now: Range | null): void {
    if (!isAble) return
    CSS.highlights.set('find', new Highlight(...ranges))
    const found = new Highlight(...(now === null ? [] : [now]))
    found.priority = 1
    CSS.highlights.set('found', found)
  }
}

/** Within a long block the match itself, not the block, is brought to the middle. */
const bring = (range: Range): void => {
  const box = range.getBoundingClientRect()
  const scroller = range.startContainer.parentElement?.closest<HTMLElement>('.fo > pre, .fo > .tx')
  if (scroller !== null && scroller !== undefined) {
    const view = scroller.getBoundingClientRect()
    scroller.scrollTop += box.top - view.top - view.height / 2
  }
  const { top } = range.getBoundingClientRect()
  if (top < 120 || top > innerHeight - 60) scrollBy({ top: top - innerHeight / 2 })
}

const countOf = (text: string, query: string): number => {
  let count = 0
  for (let at = text.indexOf(query); at !== -1; at = text.indexOf(query, at + query.length)) count++
  return count
}

const rangesIn = (chunk: Element, query: string): Range[] => {
  const nodes: Text[] = []
  const starts: number[] = []
  let text = ''
  const walker = document.createTreeWalker(chunk, NodeFilter.SHOW_TEXT)
  for (let node = walker.nextNode(); node !== null; node = walker.nextNode()) {
    starts.push(text.length)
    nodes.push(node as Text)
    text += (node as Text).data
  }
  text = text.toLowerCase()
  const ranges: Range[] = []
  let index = 0
  const place = (at: number): readonly [Text, number] => {
    while (index + 1 < starts.length && (starts[index + 1] as number) <= at) index++
    return [nodes[index] as Text, at - (starts[index] as number)]
  }
  for (let at = text.indexOf(query); at !== -1; at = text.indexOf(query, at + query.length)) {
    const range = document.createRange()
    const [from, start] = place(at)
    const [to, end] = place(at + query.length - 1)
    range.setStart(from, Math.min(start, from.length))
    range.setEnd(to, Math.min(end + 1, to.length))
    ranges.push(range)
  }
  return ranges
}
