import { spawnSync } from 'node:child_process'
import { chmodSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, expect } from 'vitest'
import { builtEntry, ensureBuilt } from '../../scripts/built.mjs'
import { root } from './pages.js'

if (!ensureBuilt()) throw new Error('the build failed')

const folders: string[] = []
afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true })
})

/** A user of the program: a folder to work in, and an environment where `coppice` is on the path. */
export interface User {
  readonly folder: string
  readonly store: string
  readonly env: NodeJS.ProcessEnv
}

/** `coppice` installed as a package and on the path, with a store of its own. */
export const newUser = (): User => {
  const folder = mkdtempSync(join(tmpdir(), 'coppice-docs-'))
  folders.push(folder)
  mkdirSync(join(folder, 'node_modules'))
  mkdirSync(join(folder, 'bin'))
  symlinkSync(root, join(folder, 'node_modules', 'coppice'), 'dir')
  const program = join(folder, 'bin', 'coppice')
  writeFileSync(program, `#!/bin/sh\nexec '${process.execPath}' '${builtEntry}' "$@"\n`)
  chmodSync(program, 0o755)
  const store = join(folder, 'store')
  const env = { PATH: `${join(folder, 'bin')}:${process.env.PATH}`, HOME: folder, COPPICE_HOME: store }
  return { folder, store, env }
}

/** Runs a program to its end, which must be a good one; gives what it printed. */
export const run = ({ folder, env }: User, command: string, args: readonly string[], input = ''): string => {
  const ran = spawnSync(command, args, { cwd: folder, env, input, encoding: 'utf8', timeout: 60_000 })
  expect(ran.stderr).toBe('')
  expect(ran.status).toBe(0)
  return ran.stdout
}
