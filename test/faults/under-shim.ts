import { execFileSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { script } from './child.js'
import { newFolder } from './machine.js'
import { Control } from './shim.mjs'

let built: string | undefined

/** The compiled shim; once for each file of tests. */
const shim = (): string => {
  if (built !== undefined) return built
  const path = join(newFolder(), 'shim.so')
  execFileSync('cc', ['-O1', '-shared', '-fPIC', '-o', path, script('shim.c'), '-ldl'])
  built = path
  return path
}

/** What a program under the shim is started with, and the way to tell it what fails, below this folder. */
export const underShim = (
  root: string,
): { readonly env: Readonly<Record<string, string>>; readonly control: Control } => {
  const path = join(newFolder(), 'control')
  writeFileSync(path, '')
  const control = new Control(path)
  return { control, env: { LD_PRELOAD: shim(), FAULT_ROOT: root, FAULT_CONTROL: path } }
}
