import { expect, it } from 'vitest'
import type { Event } from '../../src/events/event.js'
import { type ProjectionName, projectionNamed, projections } from '../../src/projections/registry.js'
import { fold } from '../../src/projections/replay.js'
import { stateHash } from '../../src/projections/state-hash.js'
import { LogWriter } from '../../src/testing/log-writer.js'

it('a value nested 100,000 deep is no overflow, in any member', () => {
  const deep = JSON.parse('['.repeat(100_000) + ']'.repeat(100_000)) as unknown
  const names = [
    'content',
    'toolCalls',
    'usage',
    'reasoning',
    'refusal',
    'row',
    'keep',
    'summary',
    'kept',
    'origin',
    'replacement',
    'replay',
  ]
  const members = Object.fromEntries(names.map((name) => [name, deep]))
  for (const type of [
    'session',
    'message',
    'compaction',
    'head',
    'edit',
    'custom',
    'usage',
    'branch',
    'checkpoint',
  ]) {
    const log = new LogWriter()
    log.root()
    const event: Event = {
      ...log.message('assistant', 'x'),
      type,
      ...members,
      ...(type === 'compaction' ? { keep: [{ id: 'x', message: members }] } : {}),
    }
    for (const name of Object.keys(projections) as ProjectionName[]) {
      const projection = projectionNamed(name)
      const shown = projection.view(fold(projection, [...log.events, event]))
      expect(stateHash(shown)).toMatch(/^[0-9a-f]{64}$/)
    }
  }
})
