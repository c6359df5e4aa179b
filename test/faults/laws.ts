import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'vitest'
import type { Store } from '../../src/index.js'
import { opened } from './engine.js'

/** What was acknowledged to programs, by session. */
export class Acked {
  readonly #ids = new Map<string, Set<string>>()
  count = 0

  add(session: string, ids: readonly string[]): void {
    const all = this.#ids.get(session) ?? new Set()
    this.#ids.set(session, all)
    for (const id of ids) {
      if (!all.has(id)) this.count++
      all.add(id)
    }
  }

  of(session: string): ReadonlySet<string> {
    return this.#ids.get(session) ?? new Set()
  }

  get sessions(): readonly string[] {
    return [...this.#ids.keys()]
  }
}

const idsIn = async (store: Store, session: string): Promise<readonly string[]> => {
  const reader = await store.reader(session)
  const ids: string[] = []
  for await (const lines of reader.log.readForward(session)) ids.push(...lines.map(({ id }) => id))
  return ids
}

/** What `verify` may say of a log before the next append: that a write was cut off. */
const harmless = new Set(['torn-tail'])

/**
 * What must hold when those who wrote are gone: everything that was acknowledged is there, once (INV-2); every session opens
 * and takes an append; then nothing is torn, `verify` finds nothing, and without the index the list is the same (INV-8).
 * `isThorough`: the last two too, which take as long again.
 */
export const mustHold = async (
  path: string,
  acked: Acked,
  { where = '', isThorough = true }: { readonly where?: string; readonly isThorough?: boolean } = {},
): Promise<void> => {
  const store = await opened(path)
  try {
    const before = (await store.verify()).problems.filter(({ kind }) => !harmless.has(kind))
    expect(before, where).toEqual([])
    const there = (await store.list({ sub: true })).map(({ session }) => session)
    expect(there, `${where}: sessions`).toEqual(expect.arrayContaining([...acked.sessions]))
    for (const session of there) await mustStand(store, session, acked, where)
    if (!isThorough) return
    expect((await store.verify()).problems, `${where}: after an append to each`).toEqual([])
    await mustListAlike(path, store, where)
  } finally {
    store.close()
  }
}

const mustStand = async (store: Store, name: string, acked: Acked, where: string): Promise<void> => {
  const session = await store.open(name)
  const events = await session.append({ type: 'message', role: 'assistant', content: 'still there' })
  session.close()
  const ids = await idsIn(store, name)
  const all = new Set(ids)
  expect(all.size, `${where}: events of ${name} that stand twice`).toBe(ids.length)
  const lost = [...acked.of(name)].filter((id) => !all.has(id))
  expect(lost, `${where}: acknowledged and gone from ${name}`).toEqual([])
  acked.add(
    name,
    events.map(({ id }) => id),
  )
  const id = events.at(-1)?.id
  expect(id === undefined ? '' : ids.at(-1), where).toBe(id)
}

/** Times and sizes are the file's, not the fold's. */
const mustListAlike = async (path: string, store: Store, where: string): Promise<void> => {
  const withIndex = await store.list({ sub: true })
  const { layout, ports } = store.home
  for (const key of ports.fs.readDir(layout.projects))
    rmSync(join(layout.projects, key, 'metadata.jsonl'), { force: true })
  const again = await opened(path)
  expect(await again.list({ sub: true }), `${where}: the list without its index`).toEqual(withIndex)
  again.close()
}
