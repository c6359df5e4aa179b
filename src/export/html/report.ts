import type { Outline } from '../model/outline.js'
import { dateTime } from '../model/quantity.js'
import { type Item, Reading } from '../model/stream.js'
import { factsOf } from '../model/turn-facts.js'
import type { Turn } from '../model/turns.js'
import type { ReportFacts, ReportSource } from '../source.js'
import { about } from './about.js'
import { Chunks } from './chunks.js'
import { contextPanel } from './context-panel.js'
import { changes } from './entries.js'
import { escaped, shown } from './escape.js'
import { head, type PageAssets } from './head.js'
import { Runs } from './runs.js'
import { marksOf, sidebar } from './sidebar.js'

export type { PageAssets } from './head.js'

/** A page as text, a piece at a time: nothing of it is held but what is not yet whole. */
export async function* htmlReport(
  outline: Outline,
  source: ReportSource,
  facts: ReportFacts,
  assets: PageAssets,
): AsyncGenerator<string> {
  const reading = new Reading(source, outline)
  yield head(outline.title, assets)
  yield `<body><a class="skip" href="#main">Skip to the conversation</a><div id="top"><a class="ti" href="#main">${shown(outline.title)}</a></div>\n`
  yield* sidebar(outline)
  yield '<main id="main" tabindex="-1">\n'
  yield about(outline, facts)
  yield '<section class="seg on" id="s0" aria-label="Turns">\n'
  yield* chosen(outline, reading)
  yield '</section>\n'
  if (!outline.isPart) yield* others(outline, reading)
  yield* contextPanel(outline, reading.excerpts)
  yield '</main>\n</body>\n</html>\n'
}

/** One segment's markup, turn by turn. */
class SegmentMarkup {
  readonly #chunks: Chunks
  readonly #runs = new Runs()
  #turn: Turn | null = null

  constructor(
    private readonly indexOf: ReadonlyMap<Turn, number>,
    private readonly compacted: ReadonlySet<string>,
    isLate: boolean,
  ) {
    this.#chunks = new Chunks(isLate)
  }

  /** What an item makes ready; the end of a segment is `endTurn`. */
  take(item: Exclude<Item, { readonly kind: 'end' }>): string {
    if (item.kind === 'turn') return this.#begin(item.turn)
    if (item.kind === 'entry') return this.#add(this.#runs.take(item.entry))
    // A fold must not hold what came before a branch left and what came after.
    if (item.kind === 'fork') return this.#add(this.#runs.flush())
    return this.#add([...this.#runs.flush(), changes(item.files)])
  }

  #begin(turn: Turn): string {
    const before = this.endTurn()
    this.#turn = turn
    const index = this.indexOf.get(turn) ?? 0
    const covered = this.compacted.has(turn.id) ? ['compacted since'] : []
    const facts = [dateTime(turn.startedAt), ...factsOf(turn), ...covered].join(' · ')
    const number = turn.number > 0 ? `<a href="#t${index}">${turn.number}</a> ` : ''
    return `${before}<section class="turn" id="t${index}" aria-labelledby="h${index}"><header class="th2"><h2 id="h${index}">${number}${shown(turn.title)}${turn.continues ? ' <small>(goes on)</small>' : ''}</h2><p class="fa">${facts}${marksOf(turn)}</p></header>`
  }

  #add(entries: readonly string[]): string {
    return entries.map((markup) => this.#chunks.add(markup)).join('')
  }

  endTurn(): string {
    const rest = this.#add(this.#runs.flush()) + this.#chunks.flush()
    const end = this.#turn === null ? rest : `${rest}</section>\n`
    this.#turn = null
    return end
  }
}

const indexed = ({ turns }: Outline): ReadonlyMap<Turn, number> =>
  new Map(turns.map((turn, at) => [turn, at]))

async function* chosen(outline: Outline, reading: Reading): AsyncGenerator<string> {
  const markup = new SegmentMarkup(indexed(outline), outline.compacted, false)
  for await (const item of reading.items((segment) => segment === 0)) {
    if (item.kind !== 'end') yield markup.take(item)
  }
  yield markup.endTurn()
}

/** Text of segments that are not yet at their end. */
const mostHeld = 8_000_000

interface Held {
  readonly markup: SegmentMarkup
  text: string
  isBegun: boolean
}

/**
 * The other branches. Writers may have written by turns, so several segments may grow at once: each is held until it is
 * whole, or too much is held; then the largest is written out as far as it goes, and the page's script joins it again.
 */
async function* others(outline: Outline, reading: Reading): AsyncGenerator<string> {
  const indexOf = indexed(outline)
  const held = new Map<number, Held>()
  const partOf = (segment: number, { text, isBegun }: Held): string =>
    `<section class="seg" ${isBegun ? `data-more="${segment}"` : attributesOf(outline, reading, segment)}>${text}</section>\n`
  let size = 0
  for await (const item of reading.items((segment) => segment > 0)) {
    const state = held.get(item.segment) ?? {
      markup: new SegmentMarkup(indexOf, outline.compacted, true),
      text: '',
      isBegun: false,
    }
    held.set(item.segment, state)
    const before = state.text.length
    if (item.kind !== 'end') state.text += state.markup.take(item)
    else {
      state.text += state.markup.endTurn()
      held.delete(item.segment)
      size -= before
      yield partOf(item.segment, state)
      continue
    }
    size += state.text.length - before
    if (size < mostHeld || item.kind !== 'turn') continue
    const [segment, largest] = [...held].reduce((a, b) => (b[1].text.length > a[1].text.length ? b : a))
    largest.text += largest.markup.endTurn()
    yield partOf(segment, largest)
    size = 0
    held.set(segment, {
      markup: new SegmentMarkup(indexOf, outline.compacted, true),
      text: '',
      isBegun: true,
    })
  }
}

/** Which branch, where it left which other, and the last entry and turn of that one that it shares. */
const attributesOf = (outline: Outline, reading: Reading, segment: number): string => {
  const { from, above, name } = outline.segments.list[segment] ?? { from: null, above: null, name: '' }
  const fork = from === null ? undefined : nearestShown(outline, from)
  const cut = fork === undefined ? '' : (reading.cuts.get(fork) ?? fork)
  const turn = fork === undefined ? -1 : (outline.turnOf.get(fork) ?? -1)
  const shownName =
    outline.tree.branches.find(({ leaf }) => leaf === outline.segments.list[segment]?.leaf)?.name ?? name
  return `id="s${segment}" data-above="${above ?? 0}" data-cut="${cut}" data-turn="${turn}" aria-label="Branch ${escaped(shownName)}"`
}

/** The event, or the nearest above it that the report shows. */
const nearestShown = ({ tree, turnOf }: Outline, id: string): string | undefined => {
  if (turnOf.has(id)) return id
  const parents = new Map(tree.nodes.map((node) => [node.id, node.parent]))
  let at = parents.get(id)
  for (let steps = 0; typeof at === 'string' && steps < parents.size; steps++) {
    if (turnOf.has(at)) return at
    at = parents.get(at)
  }
  return undefined
}
