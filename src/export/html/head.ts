import { createHash } from 'node:crypto'
import { escaped } from './escape.js'

/** What a page is made of beside its text: the script and the styles of `page/`, bundled. */
export interface PageAssets {
  readonly script: string
  readonly style: string
}

const digest = (text: string): string => `'sha256-${createHash('sha256').update(text).digest('base64')}'`

/** Nothing but the page's own script and styles, by their hashes, and images that stand in it. */
const policy = ({ script, style }: PageAssets): string =>
  [
    "default-src 'none'",
    `script-src ${digest(script)}`,
    `style-src ${digest(style)}`,
    'img-src data:',
    "base-uri 'none'",
    "form-action 'none'",
  ].join('; ')

export const head = (title: string, assets: PageAssets): string => `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${escaped(policy(assets))}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="generator" content="Coppice">
<meta name="robots" content="noindex">
<meta name="referrer" content="no-referrer">
<meta name="color-scheme" content="light dark">
<title>${escaped(title)}</title>
<style>${assets.style}</style>
<script>${assets.script}</script>
</head>
`
