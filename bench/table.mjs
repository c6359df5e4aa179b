// @ts-check
/** Figures as rows, and rows as a table. */
import { spreadOf } from './cells.mjs'

/** @typedef {{ is: '≤' | '≥' | '<', value: number }} Goal */
/** @typedef {{ readonly subject: readonly number[], readonly floor: readonly number[] }} Pair one figure a round */
/**
 * @typedef {{
 *   measure: string, unit: string, subject: number, floor: number, ratio: import('./cells.mjs').Spread,
 *   cpu: number | null, goal: Goal | null, met: boolean | null,
 * }} Row subject, floor: medians in `unit`. ratio: of subject to floor, round by round. cpu: the median ratio of the CPU time.
 */

/** @param {Goal} goal @param {number} value */
const meets = ({ is, value: limit }, value) =>
  is === '≥' ? value >= limit : is === '<' ? value < limit : value <= limit

/** @param {Pair} pair @param {(subject: number, floor: number) => number} compare */
const compared = ({ subject, floor }, compare) =>
  spreadOf(subject.map((value, i) => compare(value, floor[i] ?? Number.NaN)))

/** @param {number} a @param {number} b */
const ratioOf = (a, b) => a / b

/**
 * @param {string} measure
 * @param {string} unit
 * @param {Pair} pair
 * @param {{ goal?: Goal | null, cpu?: Pair, compare?: (subject: number, floor: number) => number }} how
 * @returns {Row}
 */
export function row(measure, unit, pair, { goal = null, cpu, compare = ratioOf } = {}) {
  const ratio = compared(pair, compare)
  return {
    measure,
    unit,
    subject: spreadOf(pair.subject).median,
    floor: spreadOf(pair.floor).median,
    ratio,
    cpu: cpu === undefined ? null : compared(cpu, compare).median,
    goal,
    met: goal === null ? null : meets(goal, ratio.median),
  }
}

/** @param {number} value */
const figure = (value) =>
  Math.abs(value) >= 100 ? value.toFixed(0) : Math.abs(value) >= 10 ? value.toFixed(1) : value.toFixed(2)

const heads = ['measure', 'subject', 'floor', 'ratio (min–max)', 'by CPU', 'goal', 'met']

/** @param {Row} row */
const cellsOf = ({ measure, unit, subject, floor, ratio, cpu, goal, met }) => [
  measure,
  `${figure(subject)} ${unit}`,
  `${figure(floor)} ${unit}`,
  `${figure(ratio.median)} (${figure(ratio.min)}–${figure(ratio.max)})`,
  cpu === null ? '' : figure(cpu),
  goal === null ? '' : `${goal.is} ${goal.value}`,
  met === null ? '' : met ? 'yes' : 'NO',
]

/** As Markdown, its columns even. @param {readonly Row[]} rows */
export function draw(rows) {
  const lines = [heads, ...rows.map(cellsOf)]
  const widths = heads.map((_, at) => Math.max(...lines.map((cells) => [...(cells[at] ?? '')].length)))
  const pad = (/** @type {string} */ text, /** @type {number} */ at) =>
    text + ' '.repeat((widths[at] ?? 0) - [...text].length)
  const spell = (/** @type {readonly string[]} */ cells) => `| ${cells.map(pad).join(' | ')} |`
  const rule = `|${widths.map((width) => '-'.repeat(width + 2)).join('|')}|`
  return [spell(heads), rule, ...lines.slice(1).map(spell)].join('\n')
}
