import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { claude } from '../../src/formats/claude/format.js'
import { reach } from '../../src/formats/recent.js'
import { importSources } from '../../src/session/import.js'
import { openStore } from '../../src/session/store/store.js'

const root = mkdtempSync(join(tmpdir(), 'coppice-far-'))
afterAll(() => rmSync(root, { recursive: true }))

const line = (uuid: string, parentUuid: string | null): string =>
  `${JSON.stringify({
    parentUuid,
    uuid,
    type: 'user',
    message: { role: 'user', content: uuid },
    timestamp: '2026-12-01T09:00:00.000Z',
    sessionId: 's',
    cwd: '/w',
  })}\n`

describe('a record that names one further above than the reader knows', () => {
  it('hangs there all the same, or is told', async () => {
    const count = reach * 2 + 10
    const chain = Array.from({ length: count }, (_, i) => line(`u${i}`, i === 0 ? null : `u${i - 1}`))
    const source = join(root, 's.jsonl')
    writeFileSync(source, [...chain, line('far', 'u5'), line('lost', 'nobody')].join(''))
    const store = await openStore(join(root, 'store'), { durability: 'none' })
    const report = await importSources(store, [{ format: claude, path: source }], { workspace: root })
    const [row] = await store.list({})
    const reader = await store.reader(row?.session ?? '')
    const events = await reader.events()
    const named = (key: string) => events.find(({ content }) => content === key)
    const headTo = (parent: unknown) => events.find(({ id }) => id === parent)?.to ?? parent
    expect(headTo(named('far')?.parent)).toBe(named('u5')?.id)
    expect(headTo(named('lost')?.parent)).toBe(named('far')?.id)
    expect(JSON.stringify(report)).toContain('hangs on one that was not carried')
    store.close()
  }, 60_000)
})
