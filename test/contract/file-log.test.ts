import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, describe, test } from 'vitest'
import { fileLog } from '../../src/events/file-log/file-log.js'
import { systemPorts } from '../../src/events/system.js'
import { eventLogLaws } from '../../src/testing.js'

describe('the log on files keeps every law of an event log', () => {
  const folders: string[] = []
  afterEach(() => {
    for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true })
  })

  for (const { name, check } of eventLogLaws) {
    test(name, async () => {
      const folder = mkdtempSync(join(tmpdir(), 'coppice-law-'))
      folders.push(folder)
      const log = fileLog({ ...systemPorts, folder })
      try {
        await check(log)
      } finally {
        log.close()
      }
    })
  }
})
