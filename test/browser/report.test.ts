import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import axe from 'axe-core'
import type { Page } from 'playwright-core'
import { beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { newFolder } from '../cli/folders.js'
import { Script } from '../export/script.js'
import { pageOf, sourceOf, wholeSession } from '../export/sources.js'
import { builtAssets } from './assets.js'
import { browserForFile, needsBrowser } from './chromium.js'
import { story } from './story.js'

const { open } = browserForFile()
const told = story()
const folder = newFolder()
const file = join(folder, 'story.html')
const bigFile = join(folder, 'big.html')
const bigTurns = 700
const big = new Script()
const begun = big.user('begin')
const left = big.assistant('left alone')
big.back(begun)

beforeAll(async () => {
  writeFileSync(file, await pageOf(sourceOf(told.script.events), wholeSession, builtAssets()))
  for (let at = 0; at < bigTurns; at++) {
    // A text may spell the markup of an event that stands further down in the page.
    big.user(at === 400 ? `id="${left}"` : `prompt ${at}`)
    big.call(`c${at}`, 'bash', { command: `step ${at}` })
    big.result(`c${at}`, `done ${at}`)
    big.assistant(at === bigTurns - 10 ? 'the **hidden needle**' : `answer ${at}`)
  }
  writeFileSync(bigFile, await pageOf(sourceOf(big.events, { batch: 500 }), wholeSession, builtAssets()))
})
beforeEach(needsBrowser)

const isSeen = (page: Page, id: string) => page.locator(`[id="${id}"]`).isVisible()
const marked = (page: Page) => page.locator('#side [aria-current]:not([data-s])').getAttribute('href')
const violations = async (page: Page): Promise<readonly string[]> => {
  await page.evaluate(axe.source)
  const found = await page.evaluate(() =>
    (
      window as unknown as {
        axe: { run: () => Promise<{ violations: { id: string; nodes: { html: string }[] }[] }> }
      }
    ).axe.run(),
  )
  return found.violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(' | ')}`)
}

describe('a report in a browser', () => {
  it('opens from a file without a complaint and without a request', async () => {
    const { page, complaints } = await open(file)
    expect(await page.title()).toBe('List the files, please')
    expect(await page.locator('.turn').count()).toBeGreaterThan(4)
    await page.mouse.wheel(0, 4000)
    await page.waitForTimeout(200)
    expect(complaints).toEqual([])
  })

  it('goes to a turn, and to the context, at a click, and marks where it is', async () => {
    const { page } = await open(file)
    await page.locator('#side .tl a', { hasText: 'Thanks' }).click()
    expect(
      await page.evaluate((id) => document.getElementById(id)?.getBoundingClientRect().top, told.fourth),
    ).toBeLessThan(400)
    await page.locator('.cx a').click()
    expect(await page.evaluate(() => location.hash)).toBe('#context')
    await expect.poll(() => marked(page)).toBe('#context')
  })

  it('shows another branch at a click in the tree, and the first one again', async () => {
    const { page, complaints } = await open(file)
    expect(await isSeen(page, told.abandoned)).toBe(false)
    await page.locator('.tree a[data-s="1"]').click()
    expect(await isSeen(page, told.abandoned)).toBe(true)
    expect(await isSeen(page, told.answer)).toBe(true)
    expect(await isSeen(page, told.third)).toBe(false)
    expect(await page.locator('#side .tl a:visible', { hasText: 'Here is a picture' }).count()).toBe(0)
    expect(await page.locator('#side .tl a:visible', { hasText: 'Now rename one' }).count()).toBe(1)
    await page.locator('.tree a[data-s="0"]').click()
    expect(await isSeen(page, told.third)).toBe(true)
    expect(await isSeen(page, told.abandoned)).toBe(false)
    expect(complaints).toEqual([])
  })

  it('opens at the event that an address names, on whichever branch it is', async () => {
    const { page } = await open(file, { hash: `#${told.abandoned}` })
    expect(await isSeen(page, told.abandoned)).toBe(true)
    expect(await page.locator('.tree a[data-s="1"]').getAttribute('aria-current')).toBe('true')
  })

  it('opens at an id or its beginning, in a part that is not built yet too, whatever texts say the same', async () => {
    const ids = big.events.map(({ id }) => id)
    const late = ids[ids.length - 40] ?? ''
    for (const [hash, event] of [
      [`#${late}`, late],
      [`#${late.slice(0, 8)}`, late],
      [`#${left}`, left],
      [`#${left.slice(0, 13)}`, left],
    ] as const) {
      const { page, complaints } = await open(bigFile, { hash })
      const top = await page.evaluate((id) => document.getElementById(id)?.getBoundingClientRect().top, event)
      expect(top, hash).toBeGreaterThan(0)
      expect(top, hash).toBeLessThan(500)
      expect(complaints).toEqual([])
    }
    const { page } = await open(file, { hash: `#${told.abandoned.slice(0, 8)}` })
    expect(await isSeen(page, told.abandoned)).toBe(true)
    expect(await page.locator(`[id="${told.abandoned}"] .at`).getAttribute('href')).toBe(`#${told.abandoned}`)
  })

  it('takes an address that leads nowhere, or is no address, for none', async () => {
    for (const hash of ['#%E0%A4%A', '#0000000000', '#"]', '#s99', '#t99999']) {
      const { page, complaints } = await open(file, { hash })
      expect(await isSeen(page, told.first), hash).toBe(true)
      expect(complaints, hash).toEqual([])
    }
  })

  it('folds long output, showing its first lines, and unfolds it', async () => {
    const { page } = await open(file)
    const fold = page.locator(`[id="${told.long}"] details`)
    const height = async () => (await fold.boundingBox())?.height ?? 0
    const closed = await height()
    await fold.locator('summary').click()
    expect(await height()).toBeGreaterThan(closed * 2)
    expect(await fold.locator('.tx').evaluate((block) => block.scrollHeight > block.clientHeight)).toBe(true)
  })

  it('shows a message as it was written, and renders it again', async () => {
    const { page } = await open(file)
    const entry = page.locator(`[id="${told.answer}"]`)
    await entry.hover()
    await entry.getByRole('button', { name: 'Show the text' }).click()
    expect(await entry.locator('.raw').textContent()).toBe(
      told.script.events.find(({ id }) => id === told.answer)?.content,
    )
    await entry.getByRole('button', { name: 'Show the text' }).click()
    expect(await entry.locator('.raw').count()).toBe(0)
    expect(await entry.locator('strong').textContent()).toBe('300')
  })

  it('shows arguments as the model wrote them', async () => {
    const { page } = await open(file)
    const entry = page.locator(`[id="${told.caller}"]`)
    await entry.hover()
    await entry.getByRole('button', { name: 'Show the text' }).click()
    expect(await entry.locator('.raw').textContent()).toContain(
      'bash {"command":"ls -la","description":"List files"}',
    )
  })

  it('copies a message as it was written', async () => {
    const { page } = await open(file, { permissions: ['clipboard-read', 'clipboard-write'] })
    const entry = page.locator(`[id="${told.last}"]`)
    await entry.hover()
    await entry.getByRole('button', { name: 'Copy' }).click()
    expect(await page.evaluate(() => navigator.clipboard.readText())).toBe('You are welcome. Needle again.')
  })

  it('finds a text whatever its case, and goes from match to match', async () => {
    const { page } = await open(file)
    await page.keyboard.press('/')
    await page.keyboard.type('NEEDLE')
    await expect.poll(() => page.locator('#find output').textContent()).toBe('2')
    await page.keyboard.press('Enter')
    expect(await page.locator('#find output').textContent()).toBe('1 of 2')
    await page.keyboard.press('Enter')
    expect(await page.locator('#find output').textContent()).toBe('2 of 2')
    const top = await page.evaluate(
      (id) => document.getElementById(id)?.getBoundingClientRect().top ?? 0,
      told.last,
    )
    expect(top).toBeGreaterThan(0)
    expect(top).toBeLessThan(900)
    expect(await page.evaluate(() => CSS.highlights.get('found')?.size)).toBe(1)
  })

  it('is used by the keyboard alone', async () => {
    const { page } = await open(file)
    await page.keyboard.press('Tab')
    expect(await page.evaluate(() => document.activeElement?.textContent)).toBe('Skip to the conversation')
    await page.keyboard.press('j')
    await page.keyboard.press('j')
    expect(await page.evaluate(() => document.activeElement?.id)).toBe('t1')
    await page.keyboard.press('k')
    expect(await page.evaluate(() => document.activeElement?.id)).toBe('t0')
    await page.keyboard.press('?')
    expect(await page.getByRole('dialog').isVisible()).toBe(true)
    await page.keyboard.press('Escape')
    expect(await page.getByRole('dialog').isVisible()).toBe(false)
    await page.keyboard.press('c')
    expect(await page.evaluate(() => location.hash)).toBe('#context')
    const reached = new Set<string>()
    await page.evaluate(() => (document.activeElement as HTMLElement | null)?.blur())
    for (let at = 0; at < 60; at++) {
      await page.keyboard.press('Tab')
      reached.add(await page.evaluate(() => document.activeElement?.closest('#top, #side, main')?.id ?? ''))
    }
    expect([...reached]).toEqual(expect.arrayContaining(['top', 'side', 'main']))
  })

  it('has a dark and a light look, by the system or by choice', async () => {
    const ground = (page: Page) => page.evaluate(() => getComputedStyle(document.body).backgroundColor)
    const { page } = await open(file, { colorScheme: 'dark' })
    const dark = await ground(page)
    await page.locator('#theme').click()
    expect(await ground(page)).toBe(dark)
    await page.locator('#theme').click()
    expect(await ground(page)).not.toBe(dark)
  })

  it('prints every panel unfolded, without the list', async () => {
    const { page } = await open(file)
    const pdf = await page.pdf()
    expect(pdf.length).toBeGreaterThan(20_000)
    await page.emulateMedia({ media: 'print' })
    await page.evaluate(() => dispatchEvent(new Event('beforeprint')))
    expect(await page.locator('#side').isVisible()).toBe(false)
    expect(await page.locator('#top').isVisible()).toBe(false)
    const last = page.locator(`[id="${told.long}"] .tx`)
    expect(await last.evaluate((block) => block.scrollHeight - block.clientHeight)).toBeLessThan(2)
    expect(await page.locator('main details:not([open], .xd)').count()).toBe(0)
    await page.evaluate(() => dispatchEvent(new Event('afterprint')))
    expect(await page.locator('main details:not([open], .xd)').count()).toBeGreaterThan(0)
  })

  it('fits a phone, with the list a tap away', async () => {
    const { page } = await open(file, { viewport: { width: 390, height: 844 }, hasTouch: true })
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(390)
    expect(await page.locator('#side').isVisible()).toBe(false)
    await page.locator('#menu').tap()
    expect(await page.locator('#side').isVisible()).toBe(true)
    await page.locator('#side .tl a', { hasText: 'Thanks' }).tap()
    expect(await page.locator('#side').isVisible()).toBe(false)
    expect(await isSeen(page, told.fourth)).toBe(true)
  })

  it('shows the text of a message of the context where it stands', async () => {
    const { page } = await open(file, { hash: '#context' })
    const row = page.locator('.xd', { hasText: 'Thanks' })
    await row.locator('summary').click()
    expect(await row.locator('.xo').textContent()).toContain('Thanks')
    expect(await page.locator(`[id="${told.fourth}"]`).count()).toBe(1)
  })

  it('is whole without script: every branch, every text, every link', async () => {
    const { page } = await open(bigFile, { javaScriptEnabled: false })
    const text = ((await page.locator('body').textContent()) ?? '').replace(/\s+/g, ' ')
    for (const at of [0, 300, bigTurns - 1]) expect(text).toContain(`answer ${at === bigTurns - 10 ? 0 : at}`)
    const { page: small } = await open(file, { javaScriptEnabled: false })
    expect(await isSeen(small, told.abandoned)).toBe(true)
    expect(await isSeen(small, told.last)).toBe(true)
    const missing = await small.$$eval('a[href^="#"]', (links) => links.length)
    expect(missing).toBeGreaterThan(10)
    for (const href of await small
      .locator('a[href^="#"]')
      .evaluateAll((links) => [...new Set(links.map((link) => link.getAttribute('href')))]))
      expect(await small.locator(`[id="${href?.slice(1)}"]`).count(), href ?? '').toBe(1)
  })

  it.each([
    ['desktop', 'light', 1440, 900],
    ['desktop', 'dark', 1440, 900],
    ['phone', 'light', 390, 844],
    ['phone', 'dark', 390, 844],
  ] as const)('has no violation that axe finds: %s, %s', async (_name, colorScheme, width, height) => {
    // The page's own policy lets no other script in, so that axe is let in by the test.
    const { page } = await open(file, { colorScheme, viewport: { width, height }, bypassCSP: true })
    await page.waitForTimeout(100)
    expect(await violations(page)).toEqual([])
    await page.locator('details').evaluateAll((folds) => {
      for (const fold of folds) (fold as HTMLDetailsElement).open = true
    })
    expect(await violations(page)).toEqual([])
  })

  it('keeps a long session small until it is looked at, and finds what is not built yet', async () => {
    const { page, complaints } = await open(bigFile)
    const nodes = await page.evaluate(() => document.querySelectorAll('*').length)
    // 2,800 events, of which 120 entries are built at once, and the first 120 turns of the list.
    expect(nodes).toBeLessThan(12_000)
    await page.keyboard.press('/')
    await page.keyboard.type('hidden needle')
    await expect.poll(() => page.locator('#find output').textContent()).toBe('1')
    await page.keyboard.press('Enter')
    expect(await page.locator('strong', { hasText: 'hidden needle' }).isVisible()).toBe(true)
    expect(await page.evaluate(() => document.querySelectorAll('*').length)).toBeLessThan(nodes + 4000)
    expect(complaints).toEqual([])
  })
})
