import { totalsOf } from '../../projections/usage-tally.js'
import type { Outline } from '../model/outline.js'
import { dateTime, duration, plural, spent, time as timeOfDay } from '../model/quantity.js'
import type { ReportFacts } from '../source.js'
import { visible } from '../visible.js'
import { escaped, shown } from './escape.js'

/** What the page is, and what it can be checked against. */
export const about = (outline: Outline, facts: ReportFacts): string => {
  const rows = factRows(outline, facts)
  const list = rows.map(([name, value]) => `<div><dt>${name}</dt><dd>${value}</dd></div>`).join('')
  return `<header class="about"><h1>${shown(outline.title)}</h1><dl>${list}</dl><p class="sn">${notice(outline, facts)}</p></header>\n`
}

const factRows = (outline: Outline, facts: ReportFacts): readonly (readonly [string, string])[] => {
  const { row, leaf, turns, segments } = outline
  const main = turns.filter(({ segment, number }) => segment === 0 && number > 0)
  const ms = Date.parse(row.updatedAt) - Date.parse(row.createdAt)
  const total = row.usage
  const branch = totalsOf(outline.spent)
  const branches = segments.list.length
  return [
    ['Session', `<code>${row.session}</code>`],
    ['Workspace', shown(visible(facts.workspace || row.workspace || 'none'))],
    [
      'Time',
      `${time(row.createdAt)} to ${time(row.updatedAt, row.createdAt)} UTC${ms > 0 ? ` <small>(${duration(ms)})</small>` : ''}`,
    ],
    [
      'Holds',
      `${plural(row.events, 'event')} · ${plural(main.length, 'turn')}${branches > 1 ? ` · ${plural(branches, 'branch', 'branches')}` : ''} · ${escaped(row.status.replaceAll('_', ' '))}`,
    ],
    ...(total.requests === 0
      ? []
      : [
          ['Used', escaped(spent(total.total).join(' · '))] as const,
          ...(branches > 1
            ? [['Of it on this branch', escaped(spent(branch.total).join(' · '))] as const]
            : []),
          [
            'Models',
            Object.keys(total.models)
              .map((name) => shown(visible(name)))
              .join(', '),
          ] as const,
        ]),
    ...(row.origin === null ? [] : [['Imported from', shown(visible(row.origin.format))] as const]),
    ['Head', `<a href="#${leaf}"><code>${leaf}</code></a>`],
    [
      'Exported',
      `<time datetime="${escaped(facts.exportedAt)}">${dateTime(facts.exportedAt)} UTC</time> by Coppice ${escaped(facts.version)}`,
    ],
  ]
}

/** A day that was said just before is not said again. */
const time = (at: string, before = ''): string =>
  `<time datetime="${escaped(at)}">${at.slice(0, 10) === before.slice(0, 10) ? timeOfDay(at) : dateTime(at)}</time>`

const notice = ({ isPart, asides, hidden }: Outline, { isRedacted }: ReportFacts): string =>
  [
    `A snapshot of ${isPart ? 'a part of a session' : 'a session'}, for reading: it cannot be imported. The log can be checked against the ids above.`,
    isRedacted ? 'Known shapes of secrets were taken out.' : 'Secrets were left in.',
    [
      asides > 0 ? `${plural(asides, 'line')} said aside` : '',
      hidden > 0 ? plural(hidden, 'hidden message') : '',
    ]
      .filter((part) => part !== '')
      .join(' and '),
  ]
    .filter((part) => part !== '')
    .map((part, at) => (at === 2 ? `Left out: ${part}.` : part))
    .join(' ')
