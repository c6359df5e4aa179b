// @ts-check
/** Figures as rows, and rows as a table. */
import { spreadOf } from './cells.mjs'

/**
 * @typedef {{ is: '≤' | '≥' | '<', value: number }} Goal
 * @typedef {{
 *   measure: string, unit: string, subject: number, floor: number,
 *   ratio: import('./cells.mjs').Spread, goal: Goal | null, met: boolean | null,
 * }} Row subject, floor: medians in `unit`. ratio: subject to floor, pair by pair, but where `unit` is MiB above: their difference.
 */

/** @param {Goal} goal @param {number} value */
const meets = ({ is, value: limit }, value) =>
  is === '≥' ? value >= limit : is === '<' ? value < limit : value <= limit

/**
 * @param {string} measure
 * @param {string} unit
 * @param {{ subject: readonly number[], floor: readonly number[] }} readings
 * @param {Goal | null} goal
 * @param {(subject: number, floor: number) => number} compare
 * @returns {Row}
 */
export function row(measure, unit, { subject, floor }, goal, compare = (a, b) => a / b) {
  const ratio = spreadOf(subject.map((value, i) => compare(value, floor[i] ?? Number.NaN)))
  return {
    measure,
    unit,
    subject: spreadOf(subject).median,
    floor: spreadOf(floor).median,
    ratio,
    goal,
    met: goal === null ? null : meets(goal, ratio.median),
  }
}

/** @param {number} value */
const figure = (value) =>
  Math.abs(value) >= 100 ? value.toFixed(0) : Math.abs(value) >= 10 ? value.toFixed(1) : value.toFixed(2)

const heads = ['measure', 'subject', 'floor', 'ratio (min–max)', 'goal', 'met']

/** @param {Row} row */
const cellsOf = ({ measure, unit, subject, floor, ratio, goal, met }) => [
  measure,
  `${figure(subject)} ${unit}`,
  `${figure(floor)} ${unit}`,
  `${figure(ratio.median)} (${figure(ratio.min)}–${figure(ratio.max)})`,
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
