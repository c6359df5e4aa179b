import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { beforeEach, describe, expect, it } from 'vitest'
import { place } from '../cli/coppice.js'
import { corpusFolder } from '../formats/corpus.js'
import { browserForFile, needsBrowser } from './chromium.js'

const { open } = browserForFile()
beforeEach(needsBrowser)

/** What a page is made of, in counts: no word of the session. */
const structureOf = (page: Page) =>
  page.evaluate(() => {
    const root = document.documentElement.cloneNode(true) as HTMLElement
    for (const late of root.querySelectorAll('noscript')) late.outerHTML = late.textContent ?? ''
    const count = (selector: string): number => root.querySelectorAll(selector).length
    return {
      segments: count('.seg'),
      branchesInTree: count('.tree a[data-s]'),
      rowsInTree: count('.tree a'),
      turnsInList: count('.tl li'),
      turns: count('.seg > .turn'),
      said: {
        user: count('.e.u'),
        assistant: count('.e.a'),
        system: count('.e.s'),
        tool: count('.e.t'),
        goesOn: count('.e.co'),
        compacted: count('.e.cp'),
      },
      calls: {
        all: count('.ca'),
        answered: count('.ca > .re'),
        failed: count('.ca.ko'),
        unanswered: count('.ca > .no'),
      },
      marks: { quiet: count('.m:not(.st, .bad)'), strong: count('.m.st'), bad: count('.m.bad') },
      blocks: {
        prose: count('.md'),
        diffs: count('.df'),
        commands: count('.cm'),
        json: count('.js'),
        code: count('.co > pre, pre.co'),
        reasoning: count('details.th'),
        folds: count('.fo'),
        repeats: count('.rp > a[href]'),
        images: count('img'),
      },
      context: { messages: count('.cl > li'), left: count('.cl .no'), kinds: count('.lg > li:not(:empty)') },
    }
  })

const sessions = [
  ['a compaction', 'compaction-fixture'],
  ['branches', 'edge-cases'],
  ['images', 'agentcmd-image-2.0.26'],
] as const

describe('the page of a real session (skipped without the corpus: set COPPICE_CORPUS)', () => {
  for (const [what, name] of sessions) {
    const source = join(corpusFolder('claude'), `${name}.jsonl`)
    it.skipIf(!existsSync(source))(`with ${what} has its parts`, async () => {
      const { run, workspace } = place()
      const rows = run(['import', 'claude', source, '--json']).json() as { imported: { session: string }[] }
      const session = rows.imported[0]?.session ?? ''
      const { code, err } = run(['export', session, 'html', 'page.html'])
      expect(code, err).toBe(0)
      const { page, complaints } = await open(join(workspace, 'page.html'))
      const structure = await structureOf(page)
      await expect(`${JSON.stringify(structure, null, 2)}\n`).toMatchFileSnapshot(`golden/${name}.json`)
      expect(complaints).toEqual([])
    })
  }
})
