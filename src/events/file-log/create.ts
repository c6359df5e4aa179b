import { join } from 'node:path'
import * as E from 'fp-ts/lib/Either.js'
import { StaleTail, WriteFailed } from '../errors/index.js'
import type { Line } from '../line.js'
import type { Appended, Durability } from '../log.js'
import type { Ports } from '../system.js'
import { noBytes, writesOf } from './batch.js'
import { logName } from './constants.js'
import { fileBlobs } from './file-blobs.js'

/** A session to be: what its folder holds from the first moment on. */
export interface Beginning {
  readonly lines: readonly Line[]
  readonly blobs: ReadonlyMap<string, Buffer>
}

/** Made in a temporary folder, synced, and renamed into place: a session's folder without a whole root is damage. */
export const createSession = async (
  ports: Ports,
  folder: string,
  { lines, blobs }: Beginning,
  durability: Durability,
): Promise<Appended> => {
  const { fs, random } = ports
  const [root] = lines
  const last = lines[lines.length - 1]
  if (root === undefined || last === undefined || root.type !== 'session' || root.parent !== null)
    throw new TypeError('a session begins with its root')
  const target = join(folder, root.id)
  const temporary = join(folder, `.new-${random.hex(8)}`)
  fs.makeDir(temporary)
  try {
    await fill(ports, temporary, root.id, { lines, blobs }, durability)
    if (fs.stat(target) !== null) throw taken(root.id)
    rename(ports, temporary, target, root.id)
    if (durability === 'sync') await fs.syncDir(folder)
  } catch (error) {
    fs.remove(temporary)
    throw error
  }
  let offset = 0
  const placed = lines.map((line) => {
    const at = offset
    offset += line.bytes.length + 1
    return { ...line, offset: at }
  })
  return { lines: placed, tail: last.id }
}

const fill = async (
  ports: Ports,
  folder: string,
  session: string,
  { lines, blobs }: Beginning,
  durability: Durability,
): Promise<void> => {
  const file = ports.fs.open(join(folder, logName), 'new')
  try {
    for (const bytes of writesOf(noBytes, lines))
      if (file.write(bytes) !== bytes.length) throw new WriteFailed(folder, new Error('the disk is full'))
    if (durability === 'sync') await file.sync()
  } finally {
    file.close()
  }
  const stored = await fileBlobs(() => folder, ports).put(session, blobs, durability)()
  if (E.isLeft(stored)) throw stored.left
  if (durability === 'sync') await ports.fs.syncDir(folder)
}

/** Two that make the same session at once (an import run twice): the second finds the folder taken, if only now. */
const rename = ({ fs }: Ports, from: string, to: string, session: string): void => {
  try {
    fs.rename(from, to)
  } catch (error) {
    throw fs.stat(to) === null ? error : taken(session)
  }
}

const taken = (session: string): StaleTail => new StaleTail(session, null, session)
