// @ts-check
/** Finds the programs with which faults are made (test/faults); where it may, installs them. */
import { delimiter, join } from 'node:path'
import { install, isDebian, isProgram } from './packages.mjs'

/** Programs, and the Debian packages that bring them. @type {Readonly<Record<string, string>>} */
const packages = {
  cc: 'gcc',
  mount: 'mount',
  umount: 'mount',
  'mkfs.ext4': 'e2fsprogs',
  truncate: 'coreutils',
  cp: 'coreutils',
}

/** @param {string} program */
const isThere = (program) =>
  [...(process.env.PATH ?? '').split(delimiter), '/usr/sbin', '/sbin'].some(
    (folder) => folder !== '' && isProgram(join(folder, program)),
  )

/** Why some of these programs cannot be used; null where they can. @param {readonly string[]} programs @returns {string | null} */
export function whyNoTools(programs) {
  if (process.platform !== 'linux') return 'faults are made on Linux only'
  const missing = programs.filter((program) => !isThere(program))
  if (missing.length === 0) return null
  return `${missing.join(', ')} not found: install ${missing.map((program) => packages[program] ?? program).join(', ')}`
}

/** Installs what is missing, as root on Debian; elsewhere tests say what they lack. */
export function ensureFaultTools() {
  if (process.platform !== 'linux' || process.getuid?.() !== 0 || !isDebian()) return
  const missing = Object.keys(packages).filter((program) => !isThere(program))
  if (missing.length === 0) return
  const wanted = new Set(missing.map((program) => packages[program] ?? program))
  if (wanted.has('gcc')) wanted.add('libc6-dev')
  console.log(`installing ${[...wanted].join(', ')}, with which faults are made …`)
  install([...wanted])
}
