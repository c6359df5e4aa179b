// @ts-check
/** Finds the Chromium in which reports are tested; where it may, installs it. */
import { delimiter, join } from 'node:path'
import { install, isDebian, isProgram } from './packages.mjs'

const names = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable']

/** Its path: `$CHROMIUM`, else by its name on the path; null where there is none. @returns {string | null} */
export function findChromium() {
  const named = process.env.CHROMIUM
  if (named) return isProgram(named) ? named : null
  const folders = (process.env.PATH ?? '').split(delimiter)
  for (const name of names)
    for (const folder of [...folders, '/usr/bin'])
      if (folder !== '' && isProgram(join(folder, name))) return join(folder, name)
  return null
}

/** Installs it as root on Debian, where it is missing. Says why where it cannot; null where it is there. @returns {string | null} */
export function ensureChromium() {
  if (findChromium() !== null) return null
  if (process.env.CHROMIUM) return `$CHROMIUM names no program: ${process.env.CHROMIUM}`
  if (!isDebian()) return 'no Chromium: install it, or name it in $CHROMIUM'
  if (process.getuid?.() !== 0)
    return 'no Chromium: `sudo apt-get install chromium`, or name one in $CHROMIUM'
  console.log('installing Chromium, in which reports are tested …')
  const failed = install(['chromium'])
  if (failed !== null) return `no Chromium: ${failed}`
  return findChromium() === null ? 'no Chromium: it was installed, and is not on the path' : null
}
