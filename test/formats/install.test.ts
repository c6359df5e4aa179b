import {
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { installFiles } from '../../src/cli/exporting/install.js'
import { formatNamed } from '../../src/formats/registry.js'
import type { Written } from '../../src/formats/writer.js'
import { Tale } from './hostile-sessions.js'

/** Sessions put into the folders of agents that are in use: nothing that is there is lost, whatever it is. */

const root = mkdtempSync(join(tmpdir(), 'coppice-install-'))
afterAll(() => rmSync(root, { recursive: true }))
let made = 0
const home = (): string => {
  const folder = join(root, String(made++))
  mkdirSync(folder)
  return folder
}

const writtenFor = async (format: string, title: string | null = 'A title'): Promise<Written> => {
  const tale = new Tale('installed')
  const first = tale.user('go')
  tale.says('one way')
  tale.to(first)
  tale.says('another way')
  const written = await formatNamed(format)?.writer?.write(tale.outgoing({ title }))
  if (written === undefined) throw new Error(`nothing writes ${format}`)
  return written
}

const filesIn = (folder: string): readonly string[] =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => lstatSync(join(folder, name)).isFile())
    .sort()

const index: Readonly<Record<string, string>> = {
  zettcode: 'metadata.jsonl',
  codex: 'session_index.jsonl',
  deepcode: 'sessions-index.json',
}

describe.each(['zettcode', 'codex'])('a list of %s to which lines are added', (format) => {
  const name = index[format] as string

  it('keeps its bytes, those that are no UTF-8 too, and its place on the disk', async () => {
    const folder = home()
    const before = Buffer.concat([
      Buffer.from('{"kind":"title","note":"'),
      Buffer.from([0xff, 0xfe]),
      Buffer.from('"}'),
    ])
    writeFileSync(join(folder, name), before)
    const { ino } = statSync(join(folder, name))
    await installFiles(await writtenFor(format), folder)
    const after = readFileSync(join(folder, name))
    expect(after.subarray(0, before.length)).toEqual(before)
    expect(after.subarray(before.length).toString()).toMatch(/^\n\{.*\n$/s)
    expect(statSync(join(folder, name)).ino).toBe(ino)
  })

  it('is not touched where it says all of it already', async () => {
    const folder = home()
    const written = await writtenFor(format)
    await installFiles(written, folder)
    const after = readFileSync(join(folder, name), 'utf8')
    await installFiles(
      { ...written, files: written.files.filter(({ merge }) => merge !== undefined) },
      folder,
    )
    expect(readFileSync(join(folder, name), 'utf8')).toBe(after)
  })
})

describe('an index of Deep Code, which is written anew', () => {
  it('stays where a link to it leads', async () => {
    const folder = home()
    const elsewhere = join(home(), 'index.json')
    writeFileSync(elsewhere, '{"version":1,"entries":[{"id":"other"}],"kept":true}')
    symlinkSync(elsewhere, join(folder, 'sessions-index.json'))
    await installFiles(await writtenFor('deepcode'), folder)
    expect(lstatSync(join(folder, 'sessions-index.json')).isSymbolicLink()).toBe(true)
    expect(JSON.parse(readFileSync(elsewhere, 'utf8'))).toMatchObject({
      kept: true,
      entries: [{ id: 'other' }, { summary: 'A title' }, {}],
    })
  })

  it.each([
    ['is no JSON', Buffer.from('{"version":1,"entr')],
    ['holds no list', Buffer.from('{"entries":{}}')],
    [
      'holds bytes that are no UTF-8',
      Buffer.from([...Buffer.from('{"entries":[],"x":"'), 0xff, ...Buffer.from('"}')]),
    ],
  ])('that %s is left as it is, and no session beside it is written', async (_what, bytes) => {
    const folder = home()
    writeFileSync(join(folder, 'sessions-index.json'), bytes)
    await expect(installFiles(await writtenFor('deepcode'), folder)).rejects.toThrow(
      /sessions-index|no UTF-8/,
    )
    expect(filesIn(folder)).toEqual(['sessions-index.json'])
    expect(readFileSync(join(folder, 'sessions-index.json'))).toEqual(bytes)
  })
})

describe.each(['claude', 'codex', 'pi', 'deepcode', 'zettcode'])('a session for %s', (format) => {
  it('is never written over a file, a folder, or a link that leads nowhere', async () => {
    const written = await writtenFor(format)
    const last = written.files.findLast(({ merge }) => merge === undefined)?.name as string
    const occupants = [
      (path: string) => writeFileSync(path, 'mine'),
      (path: string) => mkdirSync(path),
      (path: string) => symlinkSync(join(root, 'nowhere'), path),
    ]
    for (const occupy of occupants) {
      const folder = home()
      mkdirSync(dirname(join(folder, last)), { recursive: true })
      occupy(join(folder, last))
      const before = filesIn(folder)
      await expect(installFiles(written, folder)).rejects.toThrow(/exists/)
      expect(filesIn(folder)).toEqual(before)
      expect(existsSync(join(root, 'nowhere'))).toBe(false)
    }
  })

  it('has a clear word where the folder cannot be made', async () => {
    const folder = join(home(), 'a file')
    writeFileSync(folder, '')
    await expect(installFiles(await writtenFor(format), join(folder, 'below'))).rejects.toThrow(/ENOTDIR/)
  })
})
