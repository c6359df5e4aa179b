import { mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll } from 'vitest'

const folders: string[] = []
afterAll(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true })
})

/** A folder of its own, empty, removed when the file's tests are done. Real path. */
export const newFolder = (): string => {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'coppice-cli-')))
  folders.push(folder)
  return folder
}
