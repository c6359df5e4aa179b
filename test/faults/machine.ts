import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, statfsSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, type TestContext } from 'vitest'
import { whyNoTools } from '../../scripts/faults.mjs'

/** Why what a test needs is not here; tests skip with it. null where all is. */
export const noCompiler: string | null = whyNoTools(['cc'])
const noMount: string | null = whyNoTools(['mount', 'umount'])

/** How folders of these tests are named, with the process that made them: what a killed one left mounted is found again. */
const prefix = join(realpathSync(tmpdir()), 'coppice-faults-')

const done: (() => void)[] = []
const undo = (): void => {
  for (const one of done.splice(0).reverse()) one()
}
afterAll(undo)
process.on('exit', undo)

/** A folder of its own, empty, removed when the file's tests are done. Real path. */
export const newFolder = (): string => {
  const folder = mkdtempSync(`${prefix}${process.pid}-`)
  done.push(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

/** Root's own programs stand where not every path leads. */
const env = { ...process.env, PATH: `${process.env.PATH}:/usr/sbin:/sbin` }

const run = (command: string, ...args: readonly string[]): string | null => {
  const ran = spawnSync(command, args, { encoding: 'utf8', env })
  return ran.status === 0 ? null : `${command}: ${(ran.stderr || String(ran.error ?? ran.signal)).trim()}`
}

const must = (command: string, ...args: readonly string[]): void => {
  const problem = run(command, ...args)
  if (problem !== null) throw new Error(problem)
}

export interface Mounted {
  readonly path: string
  readonly unmount: () => void
}

const mounted = (path: string, ...args: readonly string[]): Mounted => {
  must('mount', ...args, path)
  let isThere = true
  const unmount = (): void => {
    if (!isThere) return
    isThere = false
    if (run('umount', path) !== null) run('umount', '-l', path)
  }
  done.push(unmount)
  return { path, unmount }
}

/** A disk in memory of so many KiB, which may be made larger. */
export const tmpfs = (kib: number): Mounted & { readonly grow: (kib: number) => void } => {
  const path = newFolder()
  const disk = mounted(path, '-t', 'tmpfs', '-o', `size=${kib}k,mode=700`, 'none')
  return { ...disk, grow: (to) => must('mount', '-o', `remount,size=${to}k`, path) }
}

/** An image file with an empty ext4, of so many MiB. */
export const ext4Image = (mib: number): string => {
  const image = join(newFolder(), 'disk.img')
  must('truncate', '-s', `${mib}M`, image)
  must('mkfs.ext4', '-q', '-E', 'lazy_itable_init=0,lazy_journal_init=0', image)
  return image
}

export const loopMounted = (image: string, path = newFolder()): Mounted => mounted(path, '-o', 'loop', image)

/** A copy of an image as its file is now: what the file system on it never wrote is not in it. */
export const copyOfImage = (image: string): string => {
  const copy = join(newFolder(), 'disk.img')
  // A call that a stopped program was in goes on in the kernel: only what stood still while it was copied is one moment.
  for (let tries = 0; tries < 50; tries++) {
    must('cp', '--sparse=always', image, copy)
    if (readFileSync(image).equals(readFileSync(copy))) return copy
  }
  throw new Error(`${image} was written to all the time, by a program that is stopped`)
}

/** Unmounts what runs that were killed left. */
const sweep = (): void => {
  for (const line of readFileSync('/proc/self/mounts', 'utf8').split('\n')) {
    const [, path = ''] = line.split(' ')
    const pid = path.startsWith(prefix) ? Number.parseInt(path.slice(prefix.length), 10) : Number.NaN
    if (!Number.isNaN(pid) && !isAlive(pid)) run('umount', '-l', path)
  }
}

const isAlive = (pid: number): boolean => {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}

/** Tries it: a container may have the programs, and not the right. */
const whyNot = (attempt: () => Mounted, ...tools: readonly string[]): string | null => {
  const missing = noMount ?? whyNoTools(tools)
  if (missing !== null) return missing
  if (process.getuid?.() !== 0) return 'only root may mount'
  try {
    sweep()
    attempt().unmount()
    return null
  } catch (error) {
    return `nothing can be mounted here: ${(error as Error).message}`
  }
}

let disks: string | null | undefined
let images: string | null | undefined

export const needsDisks = ({ skip }: TestContext): void => {
  disks ??= whyNot(() => tmpfs(16))
  if (disks !== null) skip(disks)
}

export const needsImages = ({ skip }: TestContext): void => {
  images ??= whyNot(() => loopMounted(ext4Image(8)), 'mkfs.ext4', 'truncate', 'cp')
  if (images !== null) skip(images)
}

export const needsCompiler = ({ skip }: TestContext): void => {
  if (noCompiler !== null) skip(noCompiler)
}

/** A folder in memory where there is one: syncs cost nothing there, and what is tested is not the disk. */
export const quickFolder = (): string => {
  const memory = '/dev/shm'
  try {
    const { bavail, bsize } = statfsSync(memory)
    if (bavail * bsize < 64 * 1024 * 1024) return newFolder()
    const folder = mkdtempSync(join(memory, 'coppice-faults-'))
    done.push(() => rmSync(folder, { recursive: true, force: true }))
    return folder
  } catch {
    return newFolder()
  }
}

export const makeFolder = (...parts: readonly string[]): string => {
  const path = join(...parts)
  mkdirSync(path, { recursive: true })
  return path
}
