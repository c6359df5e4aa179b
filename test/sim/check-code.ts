import { oidOf } from '../../src/checkpoints/objects/git-format.js'
import { GitObjects } from '../../src/checkpoints/objects/git-objects.js'
import { storeFolder } from './actor.js'
import type { SimDisk } from './disk/disk.js'
import type { SimFs } from './disk/sim-fs.js'
import { Broken } from './model.js'
import { Seeded } from './random.js'

/** What stands in the user's files now, by hand or by a tool: nobody but they may lose it (INV-9). */
export type Precious = ReadonlyMap<string, string>

/** INV-9: the bytes that stood in a file are there still, or wait beside it, or are in a checkpoint that can be read. */
export const checkCode = async (disk: SimDisk, fs: SimFs, precious: Precious): Promise<void> => {
  const lost = [...precious].filter(([path, text]) => !isBeside(disk, path, text))
  if (lost.length === 0) return
  const stores = codeFolders(disk).map(
    (folder) => new GitObjects(fs, new Seeded(1), `${folder}/.git`, folder),
  )
  for (const [path, text] of lost) {
    const oid = oidOf('blob', Buffer.from(text))
    const kept = await Promise.all(
      stores.map((store) =>
        store.read(oid).then(
          () => true,
          () => false,
        ),
      ),
    )
    if (!kept.includes(true))
      throw new Broken('INV-9', `what stood in ${path} is nowhere: ${text.slice(0, 40)}`)
  }
}

const textOf = (disk: SimDisk, path: string): string | null => {
  const node = disk.lookUp(path)
  return node?.kind === 'file' ? node.bytes.toString('utf8', 0, node.size) : null
}

/** In its place, or under a name that a restore gives to what it moves aside. */
const isBeside = (disk: SimDisk, path: string, text: string): boolean => {
  if (textOf(disk, path) === text) return true
  const top = path.split('/').slice(0, 3).join('/')
  return [...disk.files()].some(
    ([name, file]) =>
      name.startsWith(top) &&
      name.includes('/.coppice-') &&
      file.bytes.toString('utf8', 0, file.size) === text,
  )
}

const codeFolders = (disk: SimDisk): readonly string[] => {
  const projects = disk.lookUp(`${storeFolder}/projects`)
  return projects?.kind === 'folder'
    ? [...projects.names.keys()].map((key) => `${storeFolder}/projects/${key}/file-history`)
    : []
}
