import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { root } from './pages.js'
import { newUser, run, type User } from './users.js'

const message = (role: string, content: string): string =>
  `${JSON.stringify({ type: 'message', role, content })}\n`

const files = (folder: string): readonly string[] =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' }).map((name) => join(folder, name))

const logs = (user: User): ReadonlyMap<string, Buffer> =>
  new Map(
    files(user.store)
      .filter((path) => basename(path) === 'data.jsonl')
      .map((path) => [path, readFileSync(path)]),
  )

describe('INV-1: append only', () => {
  it('whatever is done to a session, the bytes that its log held stay as they were', () => {
    const user = newUser()
    const coppice = (args: readonly string[], input?: string): string =>
      run(user, 'coppice', ['-q', ...args], input).trim()
    const session = coppice(['new', '--title', 'a title'])
    const [first = '', , third = ''] = coppice(
      ['append', session],
      ['one', 'two', 'three'].map((text, i) => message(i === 1 ? 'assistant' : 'user', text)).join(''),
    ).split('\n')
    writeFileSync(join(user.folder, 'summary'), 'so far')
    const deeds: readonly (readonly string[])[] = [
      ['undo', session, third],
      ['redo', session],
      ['checkout', session, first],
      ['branch', session, 'other'],
      ['label', session, first, 'here'],
      ['label', session, first, ''],
      ['title', session, 'another title'],
      ['compact', session, '--summary', 'summary'],
      ['fork', session, '--at', first],
      ['import', 'auto', join(root, 'samples')],
      ['import', 'auto', join(root, 'samples')],
      ['list', '--all'],
      ['show', session],
      ['context', session],
      ['verify'],
      ['reindex'],
    ]
    let before = logs(user)
    for (const deed of deeds) {
      coppice(deed)
      const after = logs(user)
      for (const [path, bytes] of before)
        expect(after.get(path)?.subarray(0, bytes.length).equals(bytes), `${deed.join(' ')}: ${path}`).toBe(
          true,
        )
      before = after
    }
    expect(before.size).toBeGreaterThan(2)
  })
})

describe('INV-12: private', () => {
  it.each(['000', '022', '277'])('makes folders 0700 and files 0600 under umask %s', (umask) => {
    const user = newUser()
    const script = `umask ${umask}
session=$(coppice new)
coppice append $session < drafts > /dev/null
coppice -q import auto '${join(root, 'samples')}' > /dev/null
coppice list > /dev/null
coppice archive $session > /dev/null`
    writeFileSync(join(user.folder, 'drafts'), message('user', 'x'.repeat(70_000)))
    run(user, 'sh', ['-e', '-c', script])
    const made = [user.store, ...files(user.store)].map((path) => {
      const stat = statSync(path)
      return {
        path,
        mode: stat.mode & 0o777,
        isPrivate: (stat.mode & 0o777) === (stat.isDirectory() ? 0o700 : 0o600),
      }
    })
    expect(made.filter(({ path }) => path.includes('blobs')).length).toBeGreaterThan(1)
    expect(made.filter(({ isPrivate }) => !isPrivate)).toEqual([])
  })
})
