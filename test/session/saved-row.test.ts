import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { systemPorts } from '../../src/events/system.js'
import { sessionIndex } from '../../src/projections/session-index.js'
import { readIndex, type SavedFold, savedFoldOf, saveRows } from '../../src/session/store/index-file.js'

let folder: string
let path: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'coppice-rows-'))
  path = join(folder, 'metadata.jsonl')
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

const { fs } = systemPorts
const idOf = (i: number): string => i.toString(16).padStart(32, '0')

/** A row of some size, as a session with a long title makes it. */
const rowOf = (i: number, from: number, pad: number): SavedFold => ({
  session: idOf(i),
  stamp: { identity: `1:${i}`, bytes: from + 1, modified: from },
  from,
  state: {
    ...sessionIndex.initial,
    birth: { ...sessionIndex.initial.birth, session: idOf(i), workspace: 'x'.repeat(pad) },
  },
})

describe('the newest row of one session', () => {
  it('is the one that reading the whole index gives, wherever it stands', () => {
    for (let round = 0; round < 3; round++)
      saveRows(
        fs,
        path,
        Array.from({ length: 60 }, (_, i) => rowOf(i, round * 100 + i, (i * 397) % 9000)),
      )
    const { rows } = readIndex(fs, path)
    for (let i = 0; i < 60; i++) expect(savedFoldOf(fs, path, idOf(i))).toEqual(rows.get(idOf(i)))
    expect(savedFoldOf(fs, path, idOf(61))).toBeUndefined()
  })

  it('is found where a row is longer than what is read at once, and where the last one was cut short', () => {
    saveRows(fs, path, [rowOf(1, 1, 10), rowOf(2, 2, 200_000), rowOf(3, 3, 10)])
    const bytes = Buffer.from(fs.readFile(path))
    writeFileSync(path, bytes.subarray(0, bytes.length - 20))
    expect(savedFoldOf(fs, path, idOf(1))?.from).toBe(1)
    expect(savedFoldOf(fs, path, idOf(2))?.from).toBe(2)
    expect(savedFoldOf(fs, path, idOf(3))).toBeUndefined()
  })

  it('is none where there is no index', () => {
    expect(savedFoldOf(fs, path, idOf(1))).toBeUndefined()
  })
})
