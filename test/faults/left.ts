import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'vitest'
import { type Said, Worker } from './child.js'
import { engine, opened } from './engine.js'
import { Acked } from './laws.js'
import { makeFolder, newFolder } from './machine.js'

/** What a worker is given to do (worker.mjs). */
export type Work = 'append' | 'create' | 'code' | 'archive' | 'redact' | 'reindex' | 'import'

/** A store with a session for a worker, and what was acknowledged in it. */
export interface Place {
  readonly store: string
  readonly workspace: string
  /** Where another tool keeps its own sessions: not on a disk that is cut off, since nobody syncs what it writes. */
  readonly sources: string
  readonly session: string
  readonly acked: Acked
}

export const placeIn = async (folder: string): Promise<Place> => {
  const place = {
    store: join(folder, 'store'),
    workspace: makeFolder(folder, 'workspace'),
    sources: newFolder(),
  }
  const store = await opened(place.store)
  const session = await store.create({ workspace: place.workspace, title: 'to be killed' })
  await session.append({ type: 'message', role: 'user', content: 'begin' })
  session.close()
  store.close()
  const acked = new Acked()
  acked.add(session.id, [session.id])
  return { ...place, session: session.id, acked }
}

export const start = ({ store, workspace, session, sources }: Place, work: Work): Worker =>
  new Worker([store, workspace, work, session, sources])

/** What is left of the work when it was killed, beside what holds of every store. */
export const leftBy: Partial<Record<Work, (place: Place, said: readonly Said[]) => Promise<void>>> = {
  archive: async ({ store: path, session }, said) => {
    const store = await opened(path)
    const live = (await store.list()).some((row) => row.session === session)
    const archived = (await store.archived()).some(({ id }) => id === session)
    // Killed in a move, it is at the one end or the other.
    expect([live, archived].filter((is) => is)).toHaveLength(1)
    if (archived) await store.unarchive(session)
    expect((await store.list()).map((row) => row.session)).toContain(session)
    expect(said.some(({ place }) => place !== undefined) || live || archived).toBe(true)
    store.close()
  },
  redact: async ({ store: path, session }, said) => {
    const store = await opened(path)
    const redacted = said.flatMap((one) => one.redacted ?? [])
    // What was left undone is done with the next redaction, whatever that names.
    await store.redact(session, { events: redacted.slice(0, 1) })
    const events = await (await store.reader(session)).events()
    const gone = new Set(events.filter((event) => event.redacted === true).map(({ id }) => id))
    expect(redacted.filter((id) => !gone.has(id))).toEqual([])
    store.close()
  },
  code: async ({ store: path, workspace, session }, said) => {
    const store = await opened(path)
    // Whoever opens the session ends what was cut off.
    ;(await store.open(session)).close()
    const last = said.findLast(({ phase }) => phase !== undefined)
    if (last?.phase === 'moving' && last.version !== undefined) {
      const prompt = said.findLast((one) => one.prompt !== undefined)?.prompt
      const path = (await (await store.reader(session)).path()).map(({ id }) => id)
      const version = path.includes(prompt ?? '') ? last.version : last.version - 1
      for (const name of ['a.txt', 'b.txt']) {
        const file = join(workspace, name)
        const text = existsSync(file) ? readFileSync(file, 'utf8').split(' ')[0] : '0'
        expect(text, `${name}, with the head ${version === last.version ? 'after' : 'before'} it`).toBe(
          String(version),
        )
      }
    }
    store.close()
  },
  import: async ({ store: path, workspace, sources }) => {
    const source = join(sources, 'source.jsonl')
    if (!existsSync(source)) return
    const store = await opened(path)
    const format = engine.formatNamed('pi')
    if (format === undefined) throw new Error('no such format')
    const { imported, failed } = await engine.importSources(store, [{ format, path: source }], { workspace })
    // A record that the kill cut short is none yet.
    expect(failed.filter(({ reason }) => !reason.startsWith('no JSON'))).toEqual([])
    const session = imported[0]?.session ?? ''
    const events = await (await store.reader(session)).events()
    const origins = events.flatMap(({ type, origin }) =>
      type === 'message' && origin !== undefined ? [(origin as { readonly id: string }).id] : [],
    )
    const records = readFileSync(source, 'utf8').split('\n').length - 2
    expect(new Set(origins).size).toBe(origins.length)
    expect(origins).toHaveLength(records)
    store.close()
  },
}
