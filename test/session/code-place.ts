import { mkdirSync, realpathSync } from 'node:fs'
import { join } from 'node:path'
import type { PlanEntry } from '../../src/checkpoints/plan-entry.js'
import type { Event } from '../../src/events/event.js'
import type { Session, Store } from '../../src/session/api.js'
import type { StoreOptions } from '../../src/session/store/home.js'
import { openStore } from '../../src/session/store/store.js'
import { Desk } from '../checkpoints/desk.js'
import { Faults, faultyFs, faultyWork } from '../checkpoints/faults.js'
import { say, user } from './stores.js'

/** A workspace on disk, and a store beside it whose file calls can be made to fail. */
export class CodePlace extends Desk {
  readonly faults = new Faults()
  readonly storePath = join(realpathSync(this.root), 'coppice')

  /** As another process would. */
  store(options: StoreOptions = {}): Promise<Store> {
    return openStore(this.storePath, {
      fs: faultyFs(this.faults),
      work: faultyWork(this.faults),
      userHome: join(this.root, 'home'),
      ...options,
    })
  }

  make(name: string): void {
    mkdirSync(this.path(name), { recursive: true })
  }

  /** The bare repository of the workspace, wherever its key put it. */
  async repositoryOf(store: Store, session: string): Promise<string> {
    const { key } = await store.find(session)
    return join(this.storePath, 'projects', key, 'file-history', '.git')
  }
}

export const withPlace = async (run: (place: CodePlace, store: Store) => Promise<void>): Promise<void> => {
  const place = new CodePlace()
  try {
    const store = await place.store()
    await run(place, store)
    store.close()
  } finally {
    place.clear()
  }
}

export const begin = (place: CodePlace, store: Store, track?: 'workspace'): Promise<Session> =>
  store.create({ workspace: place.workspace, ...(track === undefined ? {} : { track }) })

/** A tool that says which files it changes. */
export const tool = async (session: Session, paths: readonly string[], change: () => void): Promise<void> => {
  await session.beforeEdit(paths, { toolCallId: 'c1' })
  change()
  await session.afterEdit(paths, { toolCallId: 'c1' })
}

export const edit = (session: Session, place: CodePlace, name: string, content: string, mode?: number) =>
  tool(session, [name], () => place.write(name, content, mode))

/** A user message; gives its id. */
export const ask = async (session: Session, text = 'go on'): Promise<string> =>
  (await say(session, user(text))).id

/** What a move did, by path, what stays as it is left out. */
export const did = (files: readonly PlanEntry[]): Record<string, string> =>
  Object.fromEntries(
    files.filter(({ action, why }) => action !== 'keep' || why !== null).map((e) => [e.path, e.action]),
  )

export const eventsOf = async (store: Store, session: string): Promise<readonly Event[]> =>
  (await store.reader(session)).events()

export const typesOf = async (store: Store, session: string): Promise<readonly string[]> =>
  (await eventsOf(store, session)).map(({ type }) => type)
