import {
  type Browser,
  type BrowserContext,
  type BrowserContextOptions,
  chromium,
  type Page,
} from 'playwright-core'
import { afterAll, beforeAll, type TestContext } from 'vitest'
import { findChromium } from '../../scripts/chromium.mjs'

const path = findChromium()

/** Why there is no browser; tests skip with it. */
export const noBrowser: string | null =
  path === null
    ? (process.env.COPPICE_NO_CHROMIUM ?? 'no Chromium: install it, or name it in $CHROMIUM')
    : null

export const needsBrowser = ({ skip }: TestContext): void => {
  if (noBrowser !== null) skip(noBrowser)
}

/** What a page did that it should not. */
export interface Watched {
  readonly page: Page
  readonly complaints: readonly string[]
}

/** One browser for a file's tests, without a network. */
export const browserForFile = (): {
  readonly open: (
    file: string,
    options?: BrowserContextOptions & { readonly hash?: string },
  ) => Promise<Watched>
} => {
  let browser: Browser | undefined
  const contexts: BrowserContext[] = []
  beforeAll(async () => {
    if (path === null) return
    const args = [
      '--no-sandbox',
      '--disable-gpu',
      '--disable-quic',
      '--no-first-run',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
    ]
    browser = await chromium.launch({ executablePath: path, headless: true, args })
  })
  afterAll(async () => {
    await browser?.close()
  })
  return {
    open: async (file, { hash = '', ...options } = {}) => {
      for (const context of contexts.splice(0)) await context.close()
      const context = await (browser as Browser).newContext({
        offline: true,
        viewport: { width: 1440, height: 900 },
        ...options,
      })
      contexts.push(context)
      const page = await context.newPage()
      const complaints: string[] = []
      page.on('console', (message) => {
        if (message.type() === 'error' || message.type() === 'warning')
          complaints.push(`console: ${message.text()}`)
      })
      page.on('pageerror', (error) => complaints.push(`error: ${error.message}`))
      page.on('request', (request) => {
        const url = request.url()
        if (url.split('#')[0] !== `file://${file}` && !url.startsWith('data:image/'))
          complaints.push(`request: ${url}`)
      })
      page.on('dialog', (dialog) => {
        complaints.push(`dialog: ${dialog.message()}`)
        void dialog.dismiss()
      })
      await page.goto(`file://${file}${hash}`)
      return { page, complaints }
    },
  }
}
