import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Event } from '../../src/events/event.js'
import { baseOf, deltaOf, textOfDelta } from '../../src/export/html/delta.js'
import { prose } from '../../src/export/html/prose.js'
import { visible } from '../../src/export/visible.js'
import { membersOf, stringOf } from '../../src/projections/members.js'
import { hostileTexts } from '../export/hostile.js'
import { markdownOf, pageOf, sourceOf } from '../export/sources.js'
import { hostileEventsArbitrary, logArbitrary, runs } from './arbitraries.js'

const texts = fc.oneof(fc.constantFrom(...hostileTexts), fc.string({ unit: 'binary', maxLength: 40 }))
const everything = { branch: null, from: null, to: null, all: true }

/** Values as they come back from blobs. */
const resolve = (value: unknown): unknown => {
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map(resolve)
  if (typeof (value as { $blob?: unknown }).$blob === 'string') return 'text of a blob'
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, resolve(item)]))
}

const markupOf = (html: string): readonly string[] =>
  [...html.slice(html.indexOf('<body')).matchAll(/<[^>]*>/g)].map(([tag]) => tag)

const checkTags = (html: string): void => {
  for (const tag of markupOf(html)) {
    expect(tag).not.toMatch(/^<\/?(script|style|iframe|object|embed|link|meta|form|base|svg:)\b/i)
    expect(tag.replace(/"[^"]*"|'[^']*'/g, '""')).not.toMatch(/\son\w+\s*=/i)
    expect(tag).not.toMatch(
      /\s(?:href|src)="(?!#|https?:|mailto:|data:image\/(?:png|jpeg|gif|webp);base64,)/i,
    )
  }
}

describe('a report of any session', () => {
  it('holds each event that is shown once, by its id, whatever the branches', async () => {
    await fc.assert(
      fc.asyncProperty(logArbitrary(40), fc.integer({ min: 1, max: 9 }), async (events, batch) => {
        const html = await pageOf(sourceOf(events, { resolve, batch }), everything)
        for (const event of events) {
          const count = html.split(`id="${event.id}"`).length - 1
          const isAside = membersOf(event).aside === true && event.type === 'message'
          const isWithCall = event.type === 'tool'
          expect(count, `${event.type} ${JSON.stringify(membersOf(event))}`).toBeLessThanOrEqual(1)
          const hangsOnAside = event.note === true
          if (!isAside && !isWithCall && !hangsOnAside) expect(count, event.type).toBe(1)
        }
      }),
      runs(60),
    )
  })

  it('says every text of every message, with nothing in it that runs or loads', async () => {
    await fc.assert(
      fc.asyncProperty(
        logArbitrary(25),
        fc.array(texts, { minLength: 30, maxLength: 30 }),
        async (log, words) => {
          const events = log.map(
            (event, at): Event =>
              event.type === 'message' && typeof event.content === 'string'
                ? { ...event, content: `${at}: ${words[at % words.length]}` }
                : event,
          )
          const html = await pageOf(sourceOf(events, { resolve }), everything)
          const markdown = await markdownOf(sourceOf(events, { resolve }), everything)
          checkTags(html)
          expect(markdown).not.toMatch(/[\p{Cs}\u202a-\u202e\u2066-\u2069\x1b\0]/u)
          for (const event of events) {
            const { role, content, aside, redacted } = event
            if (
              event.type !== 'message' ||
              typeof content !== 'string' ||
              aside === true ||
              redacted === true
            )
              continue
            if (role === 'assistant') continue
            const shown = visible(content)
            const text = html
              .replace(/<[^>]*>/g, '')
              .replace(
                /&(amp|lt|gt|quot);/g,
                (_, name: string) => ({ amp: '&', lt: '<', gt: '>', quot: '"' })[name] ?? '',
              )
            if (shown.length < 240) expect(text).toContain(shown)
          }
        },
      ),
      runs(60),
    )
  })

  it('survives events of any shape', async () => {
    await fc.assert(
      fc.asyncProperty(hostileEventsArbitrary(20), async (events) => {
        const [first, ...rest] = events
        if (first === undefined) return
        const log = [{ ...first, parent: null, note: undefined } as unknown as Event, ...rest]
        checkTags(await pageOf(sourceOf(log, { resolve }), everything))
        expect(stringOf(await markdownOf(sourceOf(log, { resolve }), everything))).not.toBeNull()
      }),
      runs(150),
    )
  })
})

describe('the text as it was written', () => {
  it('comes back from what is shown, for any text and anything that is shown in its place', () => {
    fc.assert(
      fc.property(texts, texts, fc.array(texts), (a, b, more) => {
        const text = [a, ...more, b].join('\n')
        const base = baseOf([b, ...more, a].join(' '))
        expect(textOfDelta(base, deltaOf(base, text))).toBe(text)
      }),
      runs(200),
    )
  })

  it('is rendered as markup that is its own fixed set of tags, whatever it is', () => {
    const allowed =
      /^<\/?(h4|h5|h6|p|br|hr|em|strong|s|code|ul|ol|li|blockquote|pre|table|thead|tbody|tr|th|td|a|span|mark)( [^<>]*)?>$/
    fc.assert(
      fc.property(fc.array(texts, { maxLength: 5 }), (parts) => {
        const html = prose(visible(parts.join('\n')))
        for (const [tag] of html.matchAll(/<[^>]*>/g)) expect(tag).toMatch(allowed)
        checkTags(`<body>${html}`)
      }),
      runs(300),
    )
  })
})
