import type { CallView, Entry, MarkEntry, ResultView, SaidEntry } from '../model/entry.js'
import { duration, plural, time } from '../model/quantity.js'
import type { FileChange } from '../source.js'
import { baseOf, deltaOf } from './delta.js'
import { diff } from './diff.js'
import { escaped, escapedJson, shown, textOfMarkup } from './escape.js'
import { pieces } from './pieces.js'

export const entry = (item: Entry): string => (item.kind === 'said' ? said(item) : mark(item))

const classes = { user: 'u', assistant: 'a', system: 's', tool: 't', other: 'o' } as const

const said = (item: SaidEntry): string => {
  const { id, speaker, continues, compacted } = item
  const names = `e ${classes[speaker]}${continues ? ' co' : ''}${compacted ? ' cp' : ''}`
  return `<article class="${names}" id="${id}">${continues ? '' : headOf(item)}${pieces(item.pieces)}${item.calls.map(call).join('')}</article>\n`
}

const headOf = ({ id, at, heading, facts }: SaidEntry): string => {
  const about = facts.length === 0 ? '' : `<span class="fa">${facts.map(shown).join(' · ')}</span>`
  return `<header><h3>${shown(heading)}</h3>${stamp(id, at)}${about}</header>`
}

/** When, and the id's beginning. The page's script makes it the link to the event, whose whole id stands there already. */
const stamp = (id: string, at: string): string => `<a class="at">${escaped(time(at))} ${id.slice(0, 8)}</a>`

const call = (item: CallView): string => {
  const { name, about, states, result, elsewhere } = item
  const line = about === '' ? '' : `<span class="ab">${shown(about)}</span>`
  const given = `${line}${pieces(item.pieces)}`
  const raw =
    item.raw === null ? '' : ` data-raw='${escapedJson(deltaOf(baseOf(textOfMarkup(given)), item.raw))}'`
  const decisions = states.filter((state) => state !== 'started')
  const permission =
    decisions.length === 0 ? '' : `<p class="pm">Permission: ${shown(decisions.join(', '))}</p>`
  return `<section class="ca${result?.ok === false ? ' ko' : ''}"><h4>${shown(name)}</h4><div class="in"${raw}>${given}</div>${permission}${answer(result, elsewhere, states)}</section>`
}

const answer = (result: ResultView | null, elsewhere: string | null, states: readonly string[]): string => {
  if (result !== null) return resultOf(result)
  if (elsewhere !== null)
    return `<p class="rp"><a href="#${elsewhere}">Its result came later: ${elsewhere.slice(0, 8)}</a></p>`
  return `<p class="no">No result${states.includes('started') ? ': it was started, and its outcome is unknown' : ''}</p>`
}

const resultOf = ({ id, ok, durationMs, pieces: list }: ResultView): string => {
  const told = [ok === false ? 'Failed' : 'Result', ...(durationMs === null ? [] : [duration(durationMs)])]
  const empty = list.length === 0 ? '<span class="no">nothing</span>' : ''
  return `<div class="re" id="${id}"><p class="rh">${told.join(' · ')}</p>${empty}${pieces(list)}</div>`
}

const mark = ({ id, at, tone, words, target, pieces: list }: MarkEntry): string => {
  const link = target === null ? '' : ` <a href="#${target}">${target.slice(0, 8)}</a>`
  const name = tone === 'quiet' ? 'm' : tone === 'bad' ? 'm bad' : 'm st'
  return `<div class="${name}" id="${id}"><p>${shown(words)}${link} ${stamp(id, at)}</p>${pieces(list)}</div>\n`
}

/** What a turn changed in the code, a fold a file. */
export const changes = (files: readonly FileChange[]): string => {
  const added = files.reduce((sum, file) => sum + file.added, 0)
  const removed = files.reduce((sum, file) => sum + file.removed, 0)
  return `<section class="ch"><h3>Code changes <small>${plural(files.length, 'file')}${counts(added, removed)}</small></h3>${files.map(change).join('')}</section>\n`
}

const counts = (added: number, removed: number): string =>
  ` <span class="pl">+${added}</span> <span class="mi">−${removed}</span>`

const change = ({ path, status, added, removed, text }: FileChange): string =>
  `<details class="fo"><summary>${shown(path)} <small>${status}${counts(added, removed)}</small></summary><pre class="df">${diff(text.replace(/\n$/, ''))}</pre></details>`
