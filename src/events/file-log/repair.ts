import { dirname, join } from 'node:path'
import { Damaged, Moved, Refused, StoreUnusable } from '../errors/index.js'
import type { EventId } from '../event.js'
import { encodeLine, encodeTombstone, type Line } from '../line.js'
import type { FileHandle, Fs } from '../ports.js'
import type { Ports } from '../system.js'
import { forwardChunk, newline } from './constants.js'
import { lock } from './lock.js'
import { readFully, scanForward } from './scan.js'

/** An event that is named by others and of which nothing provable is left. */
export interface Lost {
  readonly id: EventId
  readonly parent: EventId
  /** The parent is the head-advancing line before it: what the event's own bytes said of it is lost too. */
  readonly guessed: boolean
}

export interface Repaired {
  readonly kept: number
  readonly lost: readonly Lost[]
}

interface Rebuilt extends Repaired {
  readonly lines: readonly Line[]
}

/**
 * Makes a damaged log usable (DESIGN §6): a new log of all lines that prove themselves, in their order, with a `lost`
 * tombstone for each parent that is nowhere, and a `repaired` note that lists them. The damaged file is linked to
 * `archived` first and not changed. Gives null where nothing was wrong.
 */
export const repairLog = async (path: string, archived: string, ports: Ports): Promise<Repaired | null> => {
  const { fs } = ports
  const old = open(fs, path)
  try {
    await lock(old, 'exclusive')
    const rebuilt = rebuild(old, path, ports)
    if (rebuilt === null) return null
    fs.makeDir(dirname(archived))
    fs.link(path, archived)
    await fs.syncDir(dirname(archived))
    await replace(path, rebuilt.lines, ports)
    return { kept: rebuilt.kept, lost: rebuilt.lost }
  } finally {
    old.close()
  }
}

const open = (fs: Fs, path: string): FileHandle => {
  try {
    return fs.open(path, 'append')
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'ENOENT') throw new Moved(path)
    throw new StoreUnusable(`the log cannot be written (${code})`, path, 'check its permissions', error)
  }
}

const rebuild = (file: FileHandle, path: string, { clock }: Ports): Rebuilt | null => {
  const lines: Line[] = []
  const lost: Lost[] = []
  const nodes = new Set<EventId>()
  let junk: Buffer = Buffer.alloc(0)
  let isWhole = true
  let above: Line | null = null
  let kept = 0
  for (const segments of scanForward(file, 0, forwardChunk)) {
    for (const { line, start, end } of segments) {
      if (line === null) {
        isWhole = false
        junk = Buffer.concat([junk, readFully(file, start, end - start)])
        continue
      }
      if (above === null && (line.parent !== null || line.type !== 'session')) throw noRoot(path)
      if (above !== null && line.parent === null)
        throw new Refused(
          `${line.id} is a second root`,
          path,
          'take the log from a backup: two logs were put together',
        )
      if (above !== null && line.parent !== null && !nodes.has(line.parent)) {
        const gone = lostParent(line.parent, junk, nodes, above.id)
        lost.push(gone)
        lines.push(tombstone(gone, above.at))
        nodes.add(gone.id)
        isWhole = false
      }
      if (!line.note) {
        above = line
        nodes.add(line.id)
      }
      lines.push(light(line))
      kept++
    }
  }
  if (above === null) throw noRoot(path)
  if (isWhole) return null
  const at = new Date(Math.max(clock.now(), Date.parse(above.at) + 1)).toISOString()
  const reason =
    lost.length === 0 ? 'bytes that were no event were left out' : 'the parents of events were lost'
  lines.push(
    encodeLine(
      { parent: above.id, at, type: 'repaired', note: true },
      { ids: lost.map(({ id }) => id), reason },
    ),
  )
  return { lines, kept, lost }
}

const noRoot = (path: string): Damaged =>
  new Damaged(path, {
    kind: 'no-root',
    line: 1,
    offset: 0,
    bytes: 0,
    detail: 'its first event is lost, and with it what session this was: take the log from a backup',
  })

/** A line holds its chunk alive; its own bytes alone are enough. */
const light = (line: Line): Line => ({ ...line, bytes: Buffer.from(line.bytes) })

/** Its parent from what is left of its own bytes, where that is an event; else the head-advancing line before it. */
const lostParent = (id: EventId, junk: Buffer, nodes: ReadonlySet<EventId>, above: EventId): Lost => {
  const start = junk.indexOf(`{"id":"${id}","parent":"`)
  const parent = start < 0 ? '' : junk.toString('latin1', start + 51, start + 83)
  return nodes.has(parent) ? { id, parent, guessed: false } : { id, parent: above, guessed: true }
}

const tombstone = ({ id, parent, guessed }: Lost, at: string): Line =>
  encodeTombstone(
    id,
    { parent, at, type: 'lost', note: false },
    '0'.repeat(64),
    guessed ? { guessed } : undefined,
  )

const replace = async (path: string, lines: readonly Line[], { fs, random }: Ports): Promise<void> => {
  const temporary = join(dirname(path), `.repair-${random.hex(4)}`)
  const file = fs.open(temporary, 'new')
  try {
    await lock(file, 'exclusive')
    for (const line of lines) {
      const bytes = Buffer.concat([line.bytes, Buffer.of(newline)])
      if (file.write(bytes) !== bytes.length)
        throw new StoreUnusable('the disk is full', path, 'free some space, then repair again')
    }
    await file.sync()
    fs.rename(temporary, path)
    await fs.syncDir(dirname(path))
  } catch (error) {
    fs.remove(temporary)
    throw error
  } finally {
    file.close()
  }
}
