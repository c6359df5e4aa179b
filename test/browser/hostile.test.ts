import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { beforeEach, expect, it } from 'vitest'
import { visible } from '../../src/export/visible.js'
import { newFolder } from '../cli/folders.js'
import { hostileTexts } from '../export/hostile.js'
import { Script } from '../export/script.js'
import { pageOf, sourceOf, wholeSession } from '../export/sources.js'
import { runs } from '../property/arbitraries.js'
import { builtAssets } from './assets.js'
import { browserForFile, needsBrowser } from './chromium.js'

const { open } = browserForFile()
const folder = newFolder()
beforeEach(needsBrowser)

const words = fc.oneof(
  fc.constantFrom(...hostileTexts),
  fc.string({ unit: 'binary', minLength: 1, maxLength: 60 }),
)

/** The text of a message as the page gives it back: by its button, as a person would. */
const rawOf = (id: string): string => {
  const entry = document.getElementById(id)
  entry?.querySelector<HTMLElement>('.act button[aria-pressed]')?.click()
  return entry?.querySelector('.raw')?.textContent ?? ''
}

it('a page of hostile texts runs nothing, loads nothing, and gives every text back as it was written', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(words, { minLength: 4, maxLength: 30 }), async (texts) => {
      const script = new Script()
      const said = texts.map((text, at) => {
        // Apart, so that none repeats an earlier one, and none is only white space.
        const content = `${at} ${text} ${at}`
        const id =
          at % 2 === 0 ? script.user(content) : script.assistant(content, { reasoning: text, model: text })
        script.call(`c${at}`, text, at % 3 === 0 ? text : { command: text, path: text, [text]: text })
        script.result(`c${at}`, text, { ok: at % 2 === 0 })
        script.add('custom', { name: text, data: { [text]: text } })
        return { id, content }
      })
      script.add('title', { title: 'hostile', by: 'user' })
      const file = join(folder, 'hostile.html')
      writeFileSync(file, await pageOf(sourceOf(script.events), wholeSession, builtAssets()))
      const { page, complaints } = await open(file)
      await page.waitForSelector('#find')
      await page.evaluate(() => {
        for (const fold of document.querySelectorAll('details')) fold.open = true
      })
      for (const { id, content } of said) {
        await page.locator(`[id="${id}"]`).scrollIntoViewIfNeeded()
        await expect.poll(() => page.locator(`[id="${id}"] .act`).count()).toBeGreaterThan(0)
        expect(await page.evaluate(rawOf, id)).toContain(visible(content))
      }
      expect(await page.evaluate(() => (window as unknown as { ran?: unknown }).ran)).toBeUndefined()
      expect(
        await page
          .locator('main :is(script, iframe, object, embed, style, link, form, base, svg svg)')
          .count(),
      ).toBe(0)
      expect(complaints).toEqual([])
    }),
    { ...runs(3), endOnFailure: true },
  )
})
