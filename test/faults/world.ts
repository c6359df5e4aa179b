import type { Draft } from '../../src/events/draft.js'
import type { Event } from '../../src/events/event.js'
import { systemPorts } from '../../src/events/system.js'
import type { Session, Store } from '../../src/session/api.js'
import { openStore } from '../../src/session/store/store.js'
import { storeFolder } from '../sim/actor.js'
import { type Naming, SimDisk } from '../sim/disk/disk.js'
import type { SimFs } from '../sim/disk/sim-fs.js'
import { putByHand, SimWorkFs } from '../sim/disk/sim-work-fs.js'
import { Seeded } from '../sim/random.js'
import { type Acknowledged, type Call, RecordingFs, RecordingWorkFs } from './recording.js'

export const workspace = '/nowhere/w'
export const secret = 'the horse is called Trigger'
export const user = (content: string) => ({ type: 'message', role: 'user', content }) as const
export const assistant = (content: string) => ({ type: 'message', role: 'assistant', content }) as const
/** A value that is kept outside the line, as every image is. */
const image = (text: string) =>
  ({
    type: 'image',
    media: 'image/png',
    data: Buffer.from(text.padEnd(700, '.')).toString('base64'),
  }) as const
export const withImage = (text: string) =>
  ({ type: 'message', role: 'user', content: [{ type: 'text', text }, image(text)] }) as const
export const idsOf = (events: readonly Event[]): readonly string[] => events.map(({ id }) => id)

let stores = 0
export const storeOn = (fs: SimFs, work: SimWorkFs = new SimWorkFs(fs), ms = 0): Promise<Store> => {
  let now = Date.UTC(2026, 11, 1, 9) + ms
  return openStore(storeFolder, {
    fs,
    work,
    userHome: '/root',
    clock: { now: () => now++ },
    random: new Seeded(++stores),
  })
}

/** One that comes when all is over, and meets no fault. */
export const newcomer = (disk: SimDisk): Promise<Store> => {
  const fs = new RecordingFs(disk)
  wroteLater.push(fs.wrote)
  return storeOn(fs, new SimWorkFs(fs), 3_600_000 * 24)
}
/** What newcomers wrote into logs since the last look began. */
export const wroteLater: Buffer[][] = []

export interface World {
  readonly fs: RecordingFs
  readonly store: Store
  readonly turn: string
  readonly prompt: string
  readonly plain: string
  readonly secret: string
  readonly known: ReadonlyMap<string, readonly string[]>
}

export const put = (fs: SimFs, name: string, text: string): void =>
  putByHand(fs, `${workspace}/${name}`, Buffer.from(text))

/** A session with a turn that changed files, and one that holds a secret, in a blob too. All of it is on disk. */
export const begin = async (naming: Naming): Promise<World> => {
  const disk = new SimDisk({ naming, redirties: 'sector', clock: systemPorts.clock.now })
  const fs = new RecordingFs(disk)
  const store = await storeOn(fs, new RecordingWorkFs(fs))
  for (const [name, text] of Object.entries(oldTree)) put(fs, name, text)
  const code = await store.create({ workspace, title: 'code' })
  const [prompt] = await code.append(user('change them'), { notice: false })
  await code.beforeEdit(['a', 'gone', 'd/new'])
  disk.remove(`${workspace}/gone`)
  put(fs, 'a', newTree.a)
  put(fs, 'd/new', newTree['d/new'])
  await code.afterEdit(['a', 'gone', 'd/new'])
  code.close()
  const plain = await store.create({ workspace, title: 'plain' })
  await plain.append(user('what is its name?'))
  const [said] = await plain.append(withImage(secret))
  await plain.append(assistant('nobody knows'))
  plain.close()
  await store.list()
  const known = new Map<string, readonly string[]>()
  for (const { id } of [code, plain]) known.set(id, idsOf(await (await store.reader(id)).events()))
  return {
    fs,
    store,
    turn: code.id,
    prompt: prompt?.id ?? '',
    plain: plain.id,
    secret: said?.id ?? '',
    known,
  }
}

export const oldTree = { a: 'one', 'd/kept': 'mine', gone: 'back' }
export const newTree = { a: 'two', 'd/kept': 'mine', 'd/new': 'new' }
export const treeOn = (disk: SimDisk): Record<string, string> =>
  Object.fromEntries(
    [...disk.files()]
      .filter(([path]) => path.startsWith(`${workspace}/`))
      .map(
        ([path, file]) =>
          [path.slice(workspace.length + 1), file.bytes.toString('utf8', 0, file.size)] as const,
      )
      .sort(([a], [b]) => (a < b ? -1 : 1)),
  )

export type Ack = (what: Acknowledged) => void

export interface Work {
  /** The disk that the calls begin on, where it is not the one on which all is well. */
  readonly base?: (world: World) => Promise<SimDisk>
  /** Done, and on disk, before the calls are recorded. */
  readonly before?: (world: World) => Promise<void>
  readonly run: (store: Store, world: World, ack: Ack) => Promise<void>
  /** What must hold on a disk that a cut may have left, beside what must hold of every store; before that is looked at. */
  readonly left?: (disk: SimDisk, world: World, acked: readonly Acknowledged[]) => Promise<void>
  /** Sessions that owe nothing any more. */
  readonly gone?: (world: World) => string
}

export const appended = async (session: Session, ack: Ack, ...drafts: readonly Draft[]): Promise<void> => {
  for (const draft of drafts) ack({ session: session.id, ids: idsOf(await session.append(draft)) })
}

export interface Recorded {
  readonly world: World
  readonly base: SimDisk
  readonly calls: readonly Call[]
  readonly attempted: ReadonlySet<string>
}

export const record = async (naming: Naming, { before, base, run }: Work): Promise<Recorded> => {
  const world = await begin(naming)
  await before?.(world)
  world.store.close()
  return recordOn((await base?.(world)) ?? world.fs.machine.disk.copy(), world, run)
}

export const recordOn = async (base: SimDisk, world: World, run: Work['run']): Promise<Recorded> => {
  const fs = new RecordingFs(base.copy())
  const store = await storeOn(fs, new RecordingWorkFs(fs), 3_600_000)
  await run(store, { ...world, fs }, (what) => fs.note({ is: 'acknowledged', what }))
  store.close()
  return { world, base, calls: fs.calls, attempted: new Set(idsWritten([...world.fs.wrote, ...fs.wrote])) }
}

export const idsWritten = (writes: readonly Buffer[]): readonly string[] =>
  writes.flatMap((bytes) =>
    [...bytes.toString('latin1').matchAll(/\{"id":"([0-9a-f]{32})"/g)].map(([, id]) => id as string),
  )
