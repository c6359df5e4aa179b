import { homedir } from 'node:os'
import type { ScanLimits } from '../../checkpoints/scan.js'
import type { WorkFs } from '../../checkpoints/work-fs.js'
import type { EventId } from '../../events/event.js'
import { fileLog } from '../../events/file-log/file-log.js'
import type { Durability, EventLog } from '../../events/log.js'
import { type Ports, systemPorts } from '../../events/system.js'
import type { WorkspaceCode } from '../code/workspace-code.js'
import { type Guard, guardWith } from '../vault/guard.js'
import { Vault } from '../vault/vault.js'
import { layout, workspaceLayout } from './layout.js'
import { holder } from './presence.js'

export interface StoreOptions extends Partial<Ports> {
  /** `none`: appends are in the page cache when they resolve, and a power cut may take them. Default `sync`: on disk. */
  readonly durability?: Durability
  /** The user's home folder, which is not tracked as a whole; the system's by default. */
  readonly userHome?: string
  /** The user's files, for checkpoints; the system's by default. */
  readonly work?: WorkFs
  /** How much of a workspace is searched (`track: 'workspace'`). */
  readonly limits?: ScanLimits
  /** `write`: secrets never reach a log, but go to the vault of the store (docs/SECRETS.md). Default `off`. */
  readonly redact?: 'write' | 'off'
  readonly retention?: {
    /** Each time a session is made, all but the newest so many of its workspace go to the archive. */
    readonly maxSessions?: number
  }
}

/** What everything that works on a store is given: where it is, the ports, and one log for each workspace. */
export interface Home {
  readonly root: string
  readonly ports: Ports
  readonly durability: Durability
  readonly layout: ReturnType<typeof layout>
  readonly vault: Vault
  /** Takes secrets out of what sessions write; null where the store was not opened so. */
  readonly guard: Guard | null
  readonly maxSessions: number | null
  /** The log of a workspace's sessions, by its folder in the store. */
  log(folder: string): EventLog
  /** The code checkpoints of a workspace. Nothing of them is loaded or made before someone asks. */
  code(place: CodePlace): Promise<WorkspaceCode>
  close(): void
}

/** A workspace's folder in the store, and its real path ('' where nobody knows it). */
interface CodePlace {
  readonly folder: string
  readonly path: string
}

export const homeAt = (root: string, options: StoreOptions = {}): Home => {
  const { durability = 'sync', userHome = homedir(), work, limits, redact, retention, ...given } = options
  const ports = { ...systemPorts, ...given }
  const codes = new Map<string, Promise<WorkspaceCode>>()
  const codeOf = async ({ folder, path }: CodePlace): Promise<WorkspaceCode> => {
    const { WorkspaceCode } = await import('../code/workspace-code.js')
    return new WorkspaceCode({
      ...ports,
      root,
      folder,
      workspace: path,
      home: userHome,
      log: log(folder),
      ...(work === undefined ? {} : { work }),
      ...(limits === undefined ? {} : { limits }),
    })
  }
  const places = layout(root)
  const vault = new Vault(places.vault, ports)
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
    layout: places,
    vault,
    guard: redact === 'write' ? guardWith(vault) : null,
    maxSessions: retention?.maxSessions ?? null,
    log,
    code: (place) => {
      const key = `${place.folder}\n${place.path}`
      const held = codes.get(key) ?? codeOf(place)
      codes.set(key, held)
      return held
    },
    close: () => {
      for (const open of logs.values()) open.close()
    },
  }
}
