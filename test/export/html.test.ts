import { describe, expect, it } from 'vitest'
import { textOfMarkup } from '../../src/export/html/escape.js'
import { visible } from '../../src/export/visible.js'
import { hostileTexts } from './hostile.js'
import { Script } from './script.js'
import { pageOf, sourceOf, wholeSession } from './sources.js'

const pageFor = (script: Script, parts = {}, ask = {}) =>
  pageOf(sourceOf(script.events, parts), { ...wholeSession, ...ask })
const textOf = (html: string): string => textOfMarkup(html.slice(html.indexOf('<body')))
/** The markup of one entry. */
const entryOf = (html: string, id: string): string => {
  const from = html.indexOf(`id="${id}"`)
  return from === -1 ? '' : html.slice(from, html.indexOf('</article>', from))
}

describe('a page', () => {
  it('says which session it is, which head, when and by which version, and that it cannot be imported', async () => {
    const script = new Script()
    const last = script.user('hello')
    const text = textOf(await pageFor(script))
    expect(text).toContain(script.events[0]?.id)
    expect(text).toContain(last)
    expect(text).toContain('2026-12-01 10:00:00 UTC by Coppice 1.2.3')
    expect(text).toContain('it cannot be imported')
  })

  it('puts each result with its call, in call order, and a late result where it came', async () => {
    const script = new Script()
    script.user('go')
    const calls = ['a', 'b'].map((id) => ({ id, name: `tool-${id}`, arguments: '{}' }))
    const caller = script.assistant(null, { toolCalls: calls })
    const late = { ...calls[0], id: 'late' }
    const result = script.result('b', 'result of b')
    script.result('a', 'result of a', { ok: false })
    script.assistant('more', { toolCalls: [late] })
    script.user('meanwhile')
    const afterwards = script.result('late', 'too late')
    const html = await pageFor(script)
    const entry = entryOf(html, caller)
    expect(entry.indexOf('result of a')).toBeGreaterThan(entry.indexOf('tool-a'))
    expect(entry.indexOf('result of a')).toBeLessThan(entry.indexOf('tool-b'))
    expect(entry.indexOf('result of b')).toBeGreaterThan(entry.indexOf('tool-b'))
    expect(entry).toContain('Failed')
    expect(entry).toContain(`id="${result}"`)
    expect(html).toContain(`<a href="#${afterwards}">Its result came later`)
    expect(entryOf(html, afterwards)).toContain('too late')
  })

  it('shows the whole of an output of which the model saw the beginning', async () => {
    const script = new Script()
    script.user('go')
    const caller = script.assistant(null, { toolCalls: [{ id: 'a', name: 'run', arguments: '{}' }] })
    script.result('a', 'the beginning', {
      meta: { fullOutput: { text: 'the beginning and the end', file: 'a' } },
    })
    const html = await pageFor(script)
    expect(entryOf(html, caller)).toContain('the beginning and the end')
    expect(entryOf(html, caller)).toContain('Full output')
  })

  it('counts the turns that a user began', async () => {
    const script = new Script()
    script.user('one')
    script.user('two')
    expect(textOf(await pageFor(script))).toContain('3 events · 2 turns')
  })

  it('joins the events of one message, and tells its cost once', async () => {
    const script = new Script()
    script.user('go')
    const usage = (output: number) => ({ input: 100, output })
    script.assistant('one', { group: 'g', model: 'm-1', usage: usage(1) })
    script.assistant('two', { group: 'g', model: 'm-1', usage: usage(777) })
    const text = textOf(await pageFor(script))
    expect(text.match(/100 in/g)).toHaveLength(2) // In the message, and in total.
    expect(text).toContain('777 out')
  })

  it('shows a repeated text once, and points at it', async () => {
    const script = new Script()
    const long = 'You are a careful engineer. '.repeat(30)
    const first = script.add('message', { role: 'system', content: long })
    script.user('one')
    script.add('message', { role: 'system', content: long })
    const html = await pageFor(script)
    expect(html.split(long.trim()).length - 1).toBe(1)
    expect(html).toContain(
      `<a href="#${first}">The same text as in ${first.slice(0, 8)}</a> (840 characters)`,
    )
  })

  it('folds records that say the same, from four on, and never across the place where a branch leaves', async () => {
    const script = new Script()
    script.user('go')
    const record = (at: number) => script.add('custom', { name: 'agent:progress', data: { step: at } })
    const first = [1, 2, 3].map(record)
    script.assistant('three')
    const second = [4, 5, 6, 7].map(record)
    script.back(second[1] ?? '')
    script.assistant('elsewhere')
    const third = [8, 9, 10, 11, 12].map(record)
    script.assistant('five')
    const html = await pageFor(script)
    const folds = [...html.matchAll(/<details class="rn">.*?<\/details>\n(?=<article|<\/)/gs)].map(
      ([fold]) => fold,
    )
    expect(folds).toHaveLength(1)
    expect(textOfMarkup(folds[0] ?? '')).toContain('5 records of agent:progress')
    for (const id of third) expect(folds[0]).toContain(`id="${id}"`)
    for (const id of [...first, ...second]) expect(folds[0]).not.toContain(id)
    for (const id of [...first, ...second, ...third]) expect(html.split(`id="${id}"`)).toHaveLength(2)
  })

  it('ends a title that it cuts with a sign, and no other', async () => {
    const script = new Script()
    const exact = 'x'.repeat(100)
    script.user(exact)
    script.user(`${exact}y`)
    const html = await pageFor(script)
    expect(html).toContain(`<title>${exact}</title>`)
    expect(html).toContain(`<a href="#t2">2</a> ${exact}…</h2>`)
  })

  it('writes quotes in texts as they are, and those in attributes so that none can end one', async () => {
    const script = new Script()
    script.user('say "hi"')
    script.assistant('a "quoted" word, [a link](https://a.b/?q="x" \'"\') and `"code"`')
    script.call('c', 'bash', { command: 'echo "hi"' })
    const html = await pageFor(script)
    expect(html).toContain('say "hi"')
    expect(html).toContain('a "quoted" word')
    expect(html).toContain('<code>"code"</code>')
    expect(html).toContain('echo "hi"</pre>')
    expect(textOf(html)).not.toContain('&quot;')
  })

  it('leaves out what was said aside, and hidden messages but with `all`', async () => {
    const script = new Script()
    script.user('seen')
    script.user('by the way', { aside: true })
    script.assistant('aside answer', { aside: true })
    script.user('hidden', { visible: false })
    const text = textOf(await pageFor(script))
    expect(text).not.toMatch(/by the way|aside answer/)
    expect(text).toContain('Left out: 2 lines said aside and 1 hidden message.')
    const all = textOf(await pageFor(script, {}, { all: true }))
    expect(all).not.toMatch(/by the way|aside answer/)
    expect(all).toMatch(/User[\s\S]*hidden/)
  })

  it('shows a part with `from` and `to`, and of the context no text that is outside it', async () => {
    const script = new Script()
    script.user('first words')
    script.assistant('first answer')
    const from = script.user('second words')
    const to = script.assistant('second answer')
    script.user('third words')
    const html = await pageFor(script, {}, { from, to })
    const text = textOf(html)
    expect(text).not.toMatch(/first answer|third words/)
    expect(text).toMatch(/second words[\s\S]*second answer/)
    expect(text).toContain('Not in this part of the session.')
    expect(text).toContain('A snapshot of a part of a session')
  })

  it('holds every branch once, each from where it left another', async () => {
    const script = new Script()
    const root = script.events[0]?.id ?? ''
    const shared = script.user('shared')
    const answer = script.assistant('old answer')
    script.back(shared)
    script.add('branch', { name: 'second' })
    script.assistant('new answer')
    const html = await pageFor(script)
    for (const words of ['shared', 'old answer', 'new answer'])
      expect(html.match(new RegExp(`class="(tx|md)"[^>]*>(<p>)?${words}`, 'g'))).toHaveLength(1)
    expect(html).toContain(`id="s1" data-above="0" data-cut="${shared}"`)
    expect(html.indexOf('new answer')).toBeLessThan(html.indexOf('old answer'))
    expect(html).toContain('second · head')
    expect(root).not.toBe(answer)
  })

  it('says what the model holds: the summary, what it covers, and what an edit changed', async () => {
    const script = new Script()
    script.user('old prompt')
    const through = script.assistant('old answer')
    script.add('compaction', {
      summary: 'what happened before',
      through,
      tokensBefore: 5000,
      tokensAfter: 100,
    })
    const edited = script.user('with a mistake')
    const edit = script.add('edit', { target: edited, replacement: 'without one' })
    const context = (await pageFor(script)).split('id="context"')[1] ?? ''
    expect(textOfMarkup(context)).toContain('which covers 2 messages')
    expect(textOfMarkup(context)).toContain('5k tokens became 100')
    expect(textOfMarkup(context)).toContain('Summary')
    expect(textOfMarkup(context)).toContain('what happened before')
    expect(context).not.toContain('old answer')
    expect(context).toContain(`href="#${edit}"`)
    expect(textOfMarkup(context)).toContain('without one')
    expect(textOfMarkup(context)).not.toContain('with a mistake')
  })

  it('lays out permissions, statuses, checkpoints and the code that a turn changed', async () => {
    const script = new Script()
    script.user('go')
    const caller = script.call('c', 'bash', { command: 'rm -rf build', description: 'Clean' })
    script.add('tool', { toolCallId: 'c', state: 'asked' }, caller)
    script.add('tool', { toolCallId: 'c', state: 'allowed', by: 'user' }, caller)
    script.add('status', { status: 'ask_permission', reason: 'bash' }, caller)
    script.result('c', 'done')
    const files = [{ path: 'workspace/src/a.ts', kind: 'file', mode: 0o644, oid: 'a'.repeat(40), bytes: 3 }]
    script.add('checkpoint', { reason: 'after-tool', toolCallId: 'c', commit: 'b'.repeat(40), files })
    const change = {
      path: 'src/a.ts',
      status: 'modified' as const,
      isBinary: false,
      added: 1,
      removed: 1,
      text: 'diff --git a/src/a.ts b/src/a.ts\n--- a/src/a.ts\n+++ b/src/a.ts\n@@ -1 +1 @@\n-old\n+new\n',
    }
    const html = await pageFor(script, { changes: [change] })
    const text = textOf(html)
    expect(text).toContain('Permission: asked, allowed by user')
    expect(text).toContain('Status: ask permission: bash')
    expect(text).toContain('Checkpoint of the code (after tool bash): 1 file')
    expect(text).toContain('src/a.ts modified +1 −1')
    expect(html).toContain('<del>-old\n</del><ins>+new</ins>')
    expect(html).toContain('<pre class="cm"')
    expect(text).toContain('Clean')
  })

  it('shows raster images by their own bytes, an SVG as text, and nothing from an address', async () => {
    const png = Buffer.from('89504e470d0a1a0a0000', 'hex').toString('base64')
    const svg = Buffer.from('<svg onload="window.ran=1"/>').toString('base64')
    const script = new Script()
    script.user([
      { type: 'image', media: 'image/svg+xml', data: png, alt: 'a "quoted" name' },
      { type: 'image', media: 'image/png', data: svg },
      { type: 'image', media: 'image/svg+xml', data: svg },
      { type: 'image', media: 'image/png', url: 'https://example.com/a.png' },
    ])
    const html = await pageFor(script)
    expect(html.match(/<img [^>]*>/g)).toEqual([
      `<img class="im" src="data:image/png;base64,${png}" alt="a &quot;quoted&quot; name" loading="lazy">`,
    ])
    expect(textOf(html)).toContain('<svg onload="window.ran=1"/>')
    expect(textOf(html)).toContain('https://example.com/a.png')
  })

  it('takes secrets out of titles, messages, arguments, results, names and diffs', async () => {
    const redact = (text: string) => text.replaceAll('hunter2', '[redacted: password]')
    const script = new Script()
    script.add('title', { title: 'about hunter2', by: 'user' })
    script.user('my password is hunter2')
    script.add('branch', { name: 'fix hunter2' })
    script.call('c', 'bash', { command: 'login hunter2' }, { reasoning: 'hunter2 it is' })
    const result = script.result('c', 'welcome hunter2')
    script.add('label', { target: result, label: 'hunter2' })
    script.add('status', { status: 'failed', reason: 'hunter2' })
    const html = await pageFor(script, { redact })
    expect(html).not.toContain('hunter2')
    expect(html).toContain('my password is <mark>[redacted: password]</mark>')
  })

  it('says of a redacted event that it was one', async () => {
    const script = new Script()
    script.user('kept')
    const { id, parent, at } = script.events[1] as (typeof script.events)[number]
    const tombstone = { id, parent, at, type: 'message', body: 'ab', redacted: true, kept: { role: 'user' } }
    const html = await pageOf(sourceOf([script.events[0] as never, tombstone as never]))
    expect(textOf(html)).toContain('[redacted]')
    expect(html).not.toContain('kept')
  })

  it.each(hostileTexts)('shows %j and lets nothing of it through', async (hostile) => {
    const script = new Script()
    const places = [
      script.user(hostile),
      script.assistant(hostile, { reasoning: hostile, model: hostile, refusal: hostile }),
      script.call('c', hostile, hostile),
      script.result('c', hostile),
      script.call('d', 'edit', { path: hostile, old_string: hostile, new_string: `${hostile}!` }),
      script.add('custom', { name: hostile, data: { [hostile]: hostile }, content: hostile }),
      script.add('compaction', { summary: hostile, through: script.events.at(-1)?.parent, trigger: hostile }),
      script.add('future', { anything: hostile }),
    ]
    const html = await pageFor(script)
    expect(html.match(/<script/g)).toHaveLength(1)
    expect(html.match(/<\/?(noscript|style)/g)?.length ?? 0).toBe(2)
    for (const [tag] of html.slice(html.indexOf('<body')).matchAll(/<[a-z][^>]*>/g))
      expect(tag).not.toMatch(
        /^<(script|iframe|object|embed|link|meta|form|base)|\son\w+=|(href|src)="(?!#|https?:|mailto:|data:image\/)/i,
      )
    const [user] = places
    expect(textOfMarkup(entryOf(html, user ?? ''))).toContain(visible(hostile))
  })
})
