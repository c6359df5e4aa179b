import type { Outline } from '../model/outline.js'
import { plural, time } from '../model/quantity.js'
import { factsOf } from '../model/turn-facts.js'
import type { Turn } from '../model/turns.js'
import { escaped, shown } from './escape.js'
import { treeSvg } from './tree-svg.js'

/** Turns in one list item group; the script builds those after the first few when they come near. */
const inGroup = 60
const builtGroups = 2
const longest = 72

export function* sidebar(outline: Outline): Generator<string> {
  yield '<nav id="side" aria-label="Session">'
  if (!outline.isPart)
    yield `<h2 class="nh">Branches</h2><div class="tr" tabindex="0" role="region" aria-label="Tree of branches">${treeSvg(outline)}</div>`
  yield '<h2 class="nh">Turns</h2>'
  const index = new Map(outline.turns.map((turn, at) => [turn, at]))
  for (const { number, name } of outline.segments.list) {
    const turns = outline.turns.filter(({ segment }) => segment === number)
    if (turns.length === 0) continue
    if (number > 0) yield `<h3 class="nb" data-s="${number}">Branch ${shown(name)}</h3>`
    for (let at = 0; at < turns.length; at += inGroup) {
      const items = turns.slice(at, at + inGroup).map((turn) => item(turn, index.get(turn) ?? 0))
      const isBuilt = number === 0 && at < inGroup * builtGroups
      const list = items.join('')
      yield `<ol class="tl" data-s="${number}" data-t="${index.get(turns[at] as Turn) ?? 0}">${isBuilt ? list : `<noscript>${list}</noscript>`}</ol>`
    }
  }
  yield `<p class="cx"><a href="#context">${outline.isHead ? 'Current context' : 'Context at the end'}</a></p></nav>\n`
}

const item = (turn: Turn, index: number): string => {
  const { number, title, startedAt } = turn
  const marks = marksOf(turn)
  const label = `${clipped(title)}${turn.continues ? ' (goes on)' : ''}`
  return `<li><a href="#t${index}"><b>${number > 0 ? `${number} ` : ''}</b>${shown(label)}<small>${[time(startedAt), ...factsOf(turn)].join(' · ')}${marks}</small></a></li>`
}

/** The list shows the beginning, the turn itself all of it. */
const clipped = (title: string): string =>
  title.length > longest ? `${[...title].slice(0, longest - 1).join('')}…` : title

export const marksOf = ({ compactions, undos, errors, files }: Turn): string => {
  const marks = [
    compactions > 0 ? mark('mc', 'compacted') : '',
    undos > 0 ? mark('mu', plural(undos, 'undo', 'undos')) : '',
    errors > 0 ? mark('me', plural(errors, 'error')) : '',
    files.size > 0 ? mark('mf', plural(files.size, 'file'), [...files].join('\n')) : '',
  ].join('')
  return marks === '' ? '' : ` ${marks}`
}

const mark = (name: string, words: string, title = ''): string =>
  `<i class="${name}"${title === '' ? '' : ` title="${escaped(title)}"`}>${words}</i>`
