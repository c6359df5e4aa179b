import { dirname, join } from 'node:path'
import type { Fs, Random } from '../../events/ports.js'
import { writeAll } from './loose.js'

/**
 * `bigFileThreshold`: git makes no delta of a large blob, so that reading one needs no memory for all of it. `gc.auto`
 * and `logAllRefUpdates`: git does nothing here by itself. `fsck`: a user's `.gitmodules` is a file like any other.
 */
const config = `[core]
	repositoryformatversion = 0
	filemode = true
	bare = true
	bigFileThreshold = 1m
	logAllRefUpdates = false
[gc]
	auto = 0
[fsck]
	gitmodulesBlob = ignore
	gitmodulesName = ignore
	gitmodulesParse = ignore
	gitmodulesPath = ignore
	gitmodulesSymlink = ignore
	gitmodulesUrl = ignore
	gitmodulesUpdate = ignore
`

/** Makes the bare repository where there is none. What another process makes at the same time is the same. */
export const prepareRepository = async (fs: Fs, random: Random, folder: string): Promise<void> => {
  if (fs.stat(join(folder, 'HEAD')) !== null) return
  for (const inner of ['objects/pack', 'objects/info', 'refs/heads', 'refs/archive'])
    fs.makeDir(join(folder, inner))
  // Those that were there may be ones that a killed process made, and never synced into the folders above them.
  for (const inner of ['objects', 'refs', '.']) await fs.syncDir(join(folder, inner))
  await fs.syncDir(dirname(folder))
  await fs.syncDir(dirname(dirname(folder)))
  await put(fs, random, join(folder, 'config'), config)
  // HEAD comes last: with it the repository is one.
  await put(fs, random, join(folder, 'HEAD'), 'ref: refs/heads/none\n')
  await fs.syncDir(folder)
}

const put = async (fs: Fs, random: Random, path: string, text: string): Promise<void> => {
  const temporary = `${path}.${random.hex(8)}`
  const file = fs.open(temporary, 'new')
  try {
    writeAll(file, Buffer.from(text))
    await file.sync()
  } finally {
    file.close()
  }
  fs.rename(temporary, path)
}
