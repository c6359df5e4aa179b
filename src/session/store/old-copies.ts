import { join } from 'node:path'
import type { EventId } from '../../events/event.js'
import { refuseLink } from '../../events/file-log/links.js'
import type { OldCopy } from '../redact/redacted.js'
import type { Home } from './home.js'
import { workspaceLayout } from './layout.js'
import type { Place } from './places.js'

/** In the name of a redaction's folder until all that belongs to it is done (docs/SECRETS.md). */
export const unfinished = '.unfinished'

const named = /^([0-9a-f]{32})-(\d{4}-\d\d-\d\dT\d\d)-(\d\d)-(\d\d)-(\d{3}Z)(?:\.jsonl|\.unfinished)?$/

/** The name of a copy: whose it is, and since when. */
export const copyName = (session: EventId, ms: number): string =>
  `${session}-${new Date(ms).toISOString().replace(/[:.]/g, '-')}`

/** Every copy in the archive of a workspace, oldest first. What is named otherwise is none of ours. */
export const oldCopiesIn = ({ ports: { fs } }: Home, place: Place): readonly OldCopy[] =>
  (['damaged', 'redacted'] as const)
    .flatMap((kind) => {
      const { archive } = workspaceLayout(place.folder)
      const folder = join(archive, kind)
      for (const path of [archive, folder]) refuseLink(fs, path)
      return fs.readDir(folder).flatMap((name) => {
        const [, session, hour, minute, second, rest] = named.exec(name) ?? []
        if (session === undefined) return []
        const at = Date.parse(`${hour}:${minute}:${second}.${rest}`)
        return [{ session, kind, path: join(folder, name), at: Number.isNaN(at) ? 0 : at }]
      })
    })
    .sort((a, b) => a.at - b.at)
