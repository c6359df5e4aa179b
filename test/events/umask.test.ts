import { mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { fileLog } from '../../src/events/file-log/file-log.js'
import { sha256 } from '../../src/events/id.js'
import { systemPorts } from '../../src/events/system.js'
import { right, rootLine } from '../support/logs.js'

// In a file of its own: only a process sets a umask, no thread of one does.
const root = rootLine()
let folder: string

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'coppice-umask-'))
})
afterEach(() => {
  rmSync(folder, { recursive: true, force: true })
})

const modeOf = (path: string): string => (statSync(path).mode & 0o777).toString(8)

test('files and folders are private whatever the umask (INV-12)', async () => {
  for (const mask of [0o000, 0o077, 0o777]) {
    const store = join(folder, `store-${mask}`, 'deep')
    const before = process.umask(mask)
    try {
      const log = fileLog({ ...systemPorts, folder: store })
      const blob = Buffer.from(`blob ${mask}`)
      await right(log.create([root], 'sync', new Map([[sha256(blob), blob]])))
      const session = join(store, root.id)
      for (const one of [join(folder, `store-${mask}`), store, session, join(session, 'blobs')])
        expect(modeOf(one)).toBe('700')
      expect(modeOf(join(session, 'data.jsonl'))).toBe('600')
      expect(modeOf(join(session, 'blobs', sha256(blob)))).toBe('600')
      log.close()
    } finally {
      process.umask(before)
    }
  }
})
