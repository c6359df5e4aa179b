import * as fs from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { type FileDiff, pairsIn, pairsOf } from '../../src/checkpoints/diff.js'
import { Desk, done, git, hasGit, noGit, Talk } from './desk.js'

let desk: Desk
let talk: Talk
beforeEach(() => {
  desk = new Desk()
  talk = new Talk(desk)
})
afterEach(() => desk.clear())

const between = (a: string, b = talk.head): Promise<readonly FileDiff[]> =>
  done(desk.checkpoints.diff(pairsOf(talk.state(a), talk.state(b))))

test('a changed file is a unified diff, with its lines counted', async () => {
  desk.write('src/a.ts', 'one\ntwo\nthree\n')
  await talk.edit('src/a.ts', 'one\ntwo\nthree\n')
  const before = talk.head
  await talk.edit('src/a.ts', 'one\n2\nthree\nfour')
  expect(await between(before)).toEqual([
    {
      path: 'src/a.ts',
      status: 'modified',
      isBinary: false,
      added: 2,
      removed: 1,
      text: `diff --git a/src/a.ts b/src/a.ts
--- a/src/a.ts
+++ b/src/a.ts
@@ -1,3 +1,4 @@
 one
-two
+2
 three
+four
\\ No newline at end of file
`,
    },
  ])
})

test('a binary file is named, a mode alone is told, a file outside has its absolute path', async () => {
  desk.write('run', 'x', 0o644)
  const outside = join(desk.root, 'outside.txt')
  fs.writeFileSync(outside, 'one\n')
  await talk.take('before-tool', { paths: ['run', 'data', outside] })
  const before = talk.head
  await talk.tool(['run', 'data', outside], () => {
    fs.chmodSync(desk.path('run'), 0o755)
    desk.write('data', '\0\u0001')
    fs.writeFileSync(outside, 'two\n')
  })
  const diffs = await between(before)
  expect(diffs.map(({ path, isBinary }) => [path, isBinary])).toEqual([
    [outside, false],
    ['data', true],
    ['run', false],
  ])
  expect(diffs[1]?.text).toMatch(
    /^diff --git a\/data b\/data\nnew file mode 100644\nindex 0{40}\.\.[0-9a-f]{40}\nBinary files \/dev\/null and b\/data differ\n$/,
  )
  expect(diffs[2]?.text).toBe('diff --git a/run b/run\nold mode 100644\nnew mode 100755\n')
})

test('two texts that share next to nothing are told whole, soon', async () => {
  const lines = (word: string) => Array.from({ length: 20_000 }, (_, i) => `${word} ${i}\n`).join('')
  await talk.edit('big', lines('a'))
  const before = talk.head
  await talk.edit('big', lines('b'))
  const [diff] = await between(before)
  expect([diff?.added, diff?.removed]).toEqual([20_000, 20_000])
})

test('what the user changed between two turns is told from the checkpoint that noticed it', async () => {
  await talk.edit('a.ts', 'one\n')
  desk.write('a.ts', 'one\nby hand\n')
  const known = talk.state()
  const { checkpoint } = await talk.take('prompt')
  if (checkpoint === null || 'failed' in checkpoint) throw new Error('nothing was noticed')
  const [diff] = await done(desk.checkpoints.diff(pairsIn(known, checkpoint.files)))
  expect(diff?.text).toContain('@@ -1 +1,2 @@\n one\n+by hand\n')
})

test('git applies what is shown, both ways, and gets the same files', async (context) => {
  if (!hasGit) context.skip(noGit)
  const first: Record<string, string> = {
    changed: Array.from({ length: 60 }, (_, i) => `line ${i}\n`).join(''),
    gone: 'all of it\ngoes\n',
    'sub/crlf': 'a\r\nb\r\nc\r\n',
    end: 'no newline',
    'quo"te\n': 'odd name\n',
    empty: '',
  }
  const second: Record<string, string | null> = {
    changed: (first.changed as string).replace('line 3\n', '').replace('line 40\n', 'line forty\nand more\n'),
    gone: null,
    'sub/crlf': 'a\r\nb\nc\r\n',
    end: 'no newline, still',
    'quo"te\n': 'odd name, changed\n',
    empty: 'no more\n',
    'made/new': 'fresh\n',
  }
  const names = [...new Set([...Object.keys(first), ...Object.keys(second)])]
  for (const [name, text] of Object.entries(first)) desk.write(name, text)
  await talk.take('before-tool', { paths: names })
  const before = talk.head
  const tree = desk.tree()
  await talk.tool(names, () => {
    for (const [name, text] of Object.entries(second))
      if (text === null) desk.remove(name)
      else desk.write(name, text)
  })
  const changed = desk.tree()
  const patch = join(desk.root, 'patch')
  fs.writeFileSync(patch, (await between(before)).map(({ text }) => text).join(''))
  git(desk.workspace, 'apply', '-R', '--whitespace=nowarn', patch)
  fs.rmSync(desk.path('made'), { recursive: true, force: true })
  expect(desk.tree()).toEqual(tree)
  git(desk.workspace, 'apply', '--whitespace=nowarn', patch)
  expect(desk.tree()).toEqual(changed)
})

test('a patch with a binary file in it, and with names that hold blanks, is one that git and patch can apply', async () => {
  const texts = ['a b.txt', 'tail ', 'plain']
  const names = [...texts, 'data', 'new one']
  for (const name of texts) desk.write(name, 'old\n')
  desk.write('data', '\0one')
  await talk.take('before-tool', { paths: names })
  const before = talk.head
  await talk.tool(names, () => {
    for (const name of [...texts, 'new one']) desk.write(name, 'now\n')
    desk.write('data', '\0two')
  })
  const patch = join(desk.root, 'patch')
  fs.writeFileSync(patch, (await between(before)).map(({ text }) => text).join(''))
  expect(fs.readFileSync(patch, 'utf8')).toContain('--- a/a b.txt\t\n+++ b/a b.txt\t\n')
  git(desk.workspace, 'apply', '-R', '--exclude=data', patch)
  for (const name of texts) expect(fs.readFileSync(desk.path(name), 'utf8')).toBe('old\n')
  expect(fs.existsSync(desk.path('new one'))).toBe(false)
  expect(fs.readFileSync(desk.path('data'), 'utf8')).toBe('\0two')
})
