import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, describe, test } from 'vitest'
import { fileLog } from '../../src/events/file-log/file-log.js'
import { systemPorts } from '../../src/events/system.js'
import {
  eventLogFaultLaws,
  eventLogLaws,
  type Failing,
  type Fault,
  MemoryFs,
  systemError,
} from '../../src/testing.js'
import { logOn } from '../support/logs.js'

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

/** A log on a disk in memory, whose faults are those of `fault`. */
const failing = (fault: Fault): Failing => {
  const fs = new MemoryFs()
  return {
    log: logOn(fs),
    fail: () => {
      fs.fault = fault
    },
    heal: () => {
      fs.fault = () => undefined
    },
    reopen: () => logOn(fs),
  }
}

const faults: readonly (readonly [string, Fault])[] = [
  ['refuses each write', (operation) => refuse(operation === 'write', 'EIO')],
  ['takes ten bytes of a write', (operation) => (operation === 'write' ? 10 : undefined)],
  ['takes all but a byte', (operation, _, bytes) => (operation === 'write' ? bytes - 1 : undefined)],
  ['fails to sync', (operation) => refuse(operation === 'sync', 'EIO')],
]
const refuse = (does: boolean, code: string): undefined => {
  if (does) throw systemError(code)
  return undefined
}

describe.each(faults)('the log on a disk that %s keeps every law of faults', (_, fault) => {
  for (const { name, check } of eventLogFaultLaws) test(name, () => check(failing(fault)))
})
