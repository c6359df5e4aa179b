import type { EventId } from '../../events/event.js'
import type { Outline } from '../model/outline.js'
import { escaped } from './escape.js'

/** A row of the drawing: where something begins, ends, parts, or is named. */
interface Row {
  readonly id: EventId
  readonly segment: number
  readonly kind: 'root' | 'fork' | 'leaf' | 'compaction' | 'label'
  readonly words: string
}

const rowHeight = 22
const laneWidth = 14
const margin = 10
const textChars = 40

/** The tree of all branches: time goes down, a branch is a line of its own. Its leaf's name shows it. */
export const treeSvg = (outline: Outline): string => {
  const rows = rowsOf(outline)
  const at = new Map(rows.map((row, index) => [row.id, index]))
  const lanes = lanesOf(outline, at, rows.length)
  const right = margin + (Math.max(0, ...lanes) + 1) * laneWidth
  const width = right + 8 + textChars * 6.6
  const height = rows.length * rowHeight + 6
  const x = (segment: number): number => margin + (lanes[segment] ?? 0) * laneWidth
  const y = (row: number): number => 14 + row * rowHeight
  const lines = outline.segments.list.map(({ number, from, leaf, nodes }) => {
    const end = y(at.get(leaf) ?? 0)
    const top = from === null ? null : at.get(from)
    const above = outline.segments.list[number]?.above ?? 0
    const kind = number === 0 ? 'l0' : 'l1'
    if (top === null || top === undefined)
      return `<path class="${kind}" d="M${x(number)} ${y(at.get(nodes[0] ?? '') ?? 0)}V${end}"/>`
    const from0 = `M${x(above)} ${y(top)}`
    const bend = y(top) + rowHeight * 0.8
    return `<path class="${kind}" d="${from0}C${x(above)} ${bend} ${x(number)} ${y(top)} ${x(number)} ${bend}V${end}"/>`
  })
  const dots = rows.map((row, index) => drawRow(row, x(row.segment), y(index), right))
  return `<svg class="tree" width="${Math.ceil(width)}" height="${height}" role="group" aria-label="Branches">${lines.join('')}${dots.join('')}</svg>`
}

const rowsOf = ({ tree, segments, turns, turnOf, titles, leaf, isHead }: Outline): readonly Row[] => {
  const order = new Map(tree.nodes.map(({ id }, index) => [id, index]))
  const leaves = new Map(segments.list.map((segment) => [segment.leaf, segment]))
  const forks = new Set(segments.list.flatMap(({ from }) => from ?? []))
  const names = new Map(tree.branches.map(({ leaf: end, name }) => [end, name]))
  const turnName = (id: EventId): string => {
    const turn = turns[turnOf.get(id) ?? -1]
    if (turn === undefined) return ''
    return turn.number === 0 ? turn.title : `turn ${turn.number}: ${turn.title}`
  }
  return tree.nodes
    .flatMap((node): Row[] => {
      const segment = segments.of.get(node.id) ?? 0
      const row = (kind: Row['kind'], words: string): Row[] => [{ id: node.id, segment, kind, words }]
      const end = leaves.get(node.id)
      if (end !== undefined) {
        const name =
          names.get(node.id) ?? tree.branches.find(({ leaf: at }) => at === tree.head)?.name ?? end.name
        const words = lastWords(end.nodes, titles)
        // Agents that name no branch have several of one name: it would tell none from another.
        const isNamed = tree.branches.filter((branch) => branch.name === name).length === 1
        const about =
          end.number === 0 && node.id === leaf
            ? `${name}${isHead ? ' · head' : ''}`
            : isNamed
              ? `${name} · ${words}`
              : words
        return row('leaf', `${about}${node.label === null ? '' : ` · ${node.label}`}`)
      }
      if (node.label !== null) return row('label', node.label)
      if (node.type === 'compaction') return row('compaction', 'compacted')
      if (forks.has(node.id)) return row('fork', turnName(node.id))
      return node.parent === null ? row('root', 'begin') : []
    })
    .sort((a, b) => (order.get(a.id) ?? 0) - (order.get(b.id) ?? 0))
}

/** The last prompt of a branch: what it was about. */
const lastWords = (nodes: readonly EventId[], titles: ReadonlyMap<EventId, string>): string => {
  const prompt = nodes.findLast((id) => titles.has(id))
  return prompt === undefined ? `${nodes.length} events` : (titles.get(prompt) ?? '')
}

/** A lane for each segment: the leftmost that is free between its fork and its leaf. */
const lanesOf = (
  { segments }: Outline,
  at: ReadonlyMap<EventId, number>,
  rows: number,
): readonly number[] => {
  const taken: { readonly from: number; readonly to: number }[][] = []
  return segments.list.map(({ from, leaf, number }) => {
    const span = {
      from: number === 0 ? 0 : (at.get(from ?? '') ?? 0),
      to: number === 0 ? rows : (at.get(leaf) ?? rows),
    }
    let lane = number === 0 ? 0 : 1
    while (taken[lane]?.some((other) => span.from < other.to && other.from < span.to) === true) lane++
    taken[lane] = [...(taken[lane] ?? []), span]
    return lane
  })
}

const drawRow = ({ id, segment, kind, words }: Row, x: number, y: number, textAt: number): string => {
  const text = words.length > textChars ? `${[...words].slice(0, textChars - 1).join('')}…` : words
  const href = kind === 'leaf' ? `#s${segment}` : `#${id}`
  const dot =
    kind === 'compaction'
      ? `<path class="pc" d="M${x} ${y - 5}l5 5l-5 5l-5 -5z"/>`
      : `<circle class="p${kind[0]}" cx="${x}" cy="${y}" r="${kind === 'leaf' ? 4.5 : 3.5}"/>`
  const full = text === words ? '' : `<title>${escaped(words)}</title>`
  return `<a href="${href}"${kind === 'leaf' ? ` data-s="${segment}"` : ''}>${full}<rect class="hit" x="0" y="${y - 11}" width="100%" height="22"/>${dot}<text x="${textAt + 6}" y="${y + 4}">${escaped(text)}</text></a>`
}
