import { readFileSync } from 'node:fs'
import { statfs } from 'node:fs/promises'
import { join } from 'node:path'
import { Tagged } from '../../events/errors/tagged.js'
import { systemPorts } from '../../events/system.js'
import type { Store } from '../../session/api.js'
import { healthOf, whyNoLocks } from '../../session/store/health.js'
import { readConfig } from '../config.js'
import type { Context } from '../context.js'
import { messageOf } from '../exit.js'
import { inMegabytes, progress } from '../progress.js'
import type { Facts, Fault, LockFacts, StoreFacts } from './facts.js'

/** Looks at everything once. What fails is a finding like any other, and the rest is looked at all the same. */
export const gather = async (context: Context): Promise<Facts> => {
  const { fs } = systemPorts
  const opened = await tried(() => context.store())
  const store = isStore(opened) ? opened : null
  const config = join(context.storePath, 'config.toml')
  return {
    node: nodeFacts(context),
    native: await nativeFault(),
    config: {
      path: config,
      isThere: fs.stat(config) !== null,
      fault: faultIn(await tried(() => readConfig(context.storePath))),
    },
    store: await storeFacts(context.storePath, faultIn(opened)),
    workspace: context.workspace,
    ...(store === null || fs.stat(context.storePath) === null
      ? nothing
      : await storeContents(context, store)),
  }
}

const nothing = { locks: null, health: null, use: null, verified: null, movedFrom: [] } as const

const storeContents = async (
  context: Context,
  store: Store,
): Promise<Pick<Facts, 'locks' | 'health' | 'use' | 'verified' | 'movedFrom'>> => {
  const shown = progress(context, 'verifying')
  const verified = await tried(() => store.verify(undefined, { progress: inMegabytes(shown) }))
  shown.end()
  return {
    locks: lockFacts(store),
    health: await tried(() => healthOf(store.home)),
    use: await tried(() => store.use()),
    verified,
    movedFrom: await store.movedFrom(context.workspace),
  }
}

const isStore = (opened: Store | Fault): opened is Store => 'verify' in opened

/** What it gives, or why it does not. A fault of our own is none of the store's: it is thrown. */
const tried = async <T>(run: () => Promise<T>): Promise<T | Fault> => {
  try {
    return await run()
  } catch (error) {
    if (error instanceof Tagged) return faultOf(error)
    const { code, syscall } = error as NodeJS.ErrnoException
    if (code === undefined || syscall === undefined) throw error
    return { message: messageOf(error), next: 'look again once that is done', tag: code }
  }
}

const faultOf = ({ what, where, hint, tag }: Tagged): Fault => ({
  message: [what, where].filter((part) => part !== '').join(': '),
  next: hint === '' ? `look up ${tag} in docs/DAMAGE.md` : hint,
  tag,
})

const faultIn = (value: object): Fault | null =>
  'message' in value && 'tag' in value ? (value as Fault) : null

const nodeFacts = ({ packageFolder }: Context): Facts['node'] => {
  const { engines } = JSON.parse(readFileSync(join(packageFolder, 'package.json'), 'utf8')) as {
    engines: { node: string }
  }
  const { node: version } = process.versions
  return { version, range: engines.node, fits: isAtLeast(version, engines.node.replace(/^>=/, '')) }
}

const isAtLeast = (version: string, least: string): boolean =>
  version.localeCompare(least, 'en', { numeric: true }) >= 0

const nativeFault = async (): Promise<string | null> => {
  try {
    await import('fs-native-extensions')
    return null
  } catch (error) {
    return (error as Error).message.split('\n')[0] ?? ''
  }
}

const storeFacts = async (path: string, fault: Fault | null): Promise<StoreFacts> => {
  const stat = systemPorts.fs.stat(path)
  const own = process.geteuid?.()
  const disk = await statfs(path).catch(() => null)
  return {
    path,
    isThere: stat !== null,
    mode: stat?.mode ?? 0,
    isOwn: stat?.uid === undefined || own === undefined ? null : stat.uid === own,
    free: disk === null ? null : disk.bavail * disk.bsize,
    fault,
  }
}

const lockFacts = ({ home }: Store): LockFacts | null => {
  if (home.ports.fs.stat(home.layout.projects) === null) return null
  try {
    const why = whyNoLocks(home)
    return why === null ? { kind: 'work' } : { kind: 'fail', why }
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException
    return barred.has(code)
      ? { kind: 'read-only', why: code }
      : { kind: 'fail', why: (error as Error).message.split('\n')[0] ?? '' }
  }
}
const barred = new Set(['EROFS', 'EACCES', 'EPERM'])
