import type { EventId } from '../../events/event.js'
import { fileLog } from '../../events/file-log/file-log.js'
import type { Durability, EventLog } from '../../events/log.js'
import { type Ports, systemPorts } from '../../events/system.js'
import { layout, workspaceLayout } from './layout.js'
import { holder } from './presence.js'

export interface StoreOptions extends Partial<Ports> {
  /** `none`: appends are in the page cache when they resolve, and a power cut may take them. Default `sync`: on disk. */
  readonly durability?: Durability
}

/** What everything that works on a store is given: where it is, the ports, and one log for each workspace. */
export interface Home {
  readonly root: string
  readonly ports: Ports
  readonly durability: Durability
  readonly layout: ReturnType<typeof layout>
  /** The log of a workspace's sessions, by its folder in the store. */
  log(folder: string): EventLog
  close(): void
}

export const homeAt = (root: string, { durability = 'sync', ...given }: StoreOptions = {}): Home => {
  const ports = { ...systemPorts, ...given }
  const logs = new Map<string, EventLog>()
  const log = (folder: string): EventLog => {
    const held = logs.get(folder)
    if (held !== undefined) return held
    const places = workspaceLayout(folder)
    const made = fileLog({
      ...ports,
      folder,
      holder: (session: EventId) => holder(places.presence(session), ports.fs),
    })
    logs.set(folder, made)
    return made
  }
  return {
    root,
    ports,
    durability,
    layout: layout(root),
    log,
    close: () => {
      for (const open of logs.values()) open.close()
    },
  }
}
