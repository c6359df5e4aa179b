import { spawnSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'

export const root = fileURLToPath(new URL('../..', import.meta.url))

export const read = (path: string): string => readFileSync(join(root, path), 'utf8')

/** The Markdown files that people read: those at the top, and below docs. */
export const pages: readonly string[] = [
  ...readdirSync(root).filter((name) => name.endsWith('.md')),
  ...readdirSync(join(root, 'docs'), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.md'))
    .map((name) => join('docs', name)),
].sort()

/** A fenced block: the word after the fence, and what stands in it. */
export interface Block {
  readonly language: string
  readonly text: string
}

export const blocksOf = (markdown: string): readonly Block[] =>
  [...markdown.matchAll(/^```([\w-]*)\n([\s\S]*?)^```$/gm)].map(([, language = '', text = '']) => ({
    language,
    text,
  }))

export const headingsOf = (markdown: string): readonly string[] =>
  [...withoutBlocks(markdown).matchAll(/^#{1,6} (.+)$/gm)].map(([, heading = '']) => heading)

const withoutBlocks = (markdown: string): string => markdown.replace(/^```[\s\S]*?^```$/gm, '')

/** The anchor that a heading gets: lower case, no punctuation, hyphens for spaces. */
export const anchorOf = (heading: string): string =>
  heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\s_-]/gu, '')
    .trim()
    .replace(/\s/g, '-')

/** Where a page's links go, those into the web and those in examples left out. */
export const linksOf = (markdown: string): readonly string[] =>
  [...withoutBlocks(markdown).matchAll(/\]\(([^)\s]+)\)/g)]
    .map(([, target = '']) => target)
    .filter((target) => !/^[a-z]+:/.test(target))

/** Every file that belongs to the project: under version control, or about to be. */
export const projectFiles = (): readonly string[] => {
  const { stdout, status } = spawnSync('git', ['ls-files', '-co', '--exclude-standard', '-z'], {
    cwd: root,
    encoding: 'utf8',
    maxBuffer: 1 << 28,
  })
  if (status !== 0) return filesBelow(root)
  return [...new Set(stdout.split('\0'))].filter((name) => name !== '' && existsSync(join(root, name)))
}

/** Where there is no git, or no repository: a package that was unpacked. */
const filesBelow = (folder: string): readonly string[] =>
  readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    if (['node_modules', 'dist', 'coverage', '.git'].includes(entry.name)) return []
    const path = join(folder, entry.name)
    return entry.isDirectory() ? filesBelow(path) : [relative(root, path)]
  })
