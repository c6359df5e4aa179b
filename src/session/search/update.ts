import type { LogStamp } from '../../events/log.js'
import { isSame } from '../store/saved-fold.js'
import type { IndexDatabase, IndexedDoc, IndexedLog } from './database.js'
import { digestsOf } from './digests.js'
import { type Doc, type DocsRead, docsIn } from './docs.js'
import { foldText } from './fold.js'
import type { IndexFile } from './index-file.js'
import type { Source } from './sources.js'
import { indexable } from './trigrams.js'

/** How much of the logs is read before others get the index (bytes), and how long they then have to take it (ms). */
const turnBytes = 16 * 1024 * 1024
const turnPause = 15
/** A text longer than this (UTF-16 units) is not indexed: its event is looked at by every search. */
const mostText = 4 * 1024 * 1024

/** Whether the index knows all that a log held when its stamp was taken. */
export const covers = (known: IndexedLog | undefined, stamp: LogStamp): boolean =>
  known !== undefined &&
  known.stamp.identity === stamp.identity &&
  (isSame(known.stamp, stamp) || known.stamp.bytes > stamp.bytes)

/** Whether the index lacks something of the logs, or, where they are all that the store has, holds what is gone. */
export const isBehind = (
  known: ReadonlyMap<string, IndexedLog>,
  sources: readonly Source[],
  isAll: boolean,
): boolean =>
  (isAll && known.size > sources.length) || sources.some(({ name, stamp }) => !covers(known.get(name), stamp))

/**
 * Brings the index up to the logs: one that is the same costs nothing, one that grew its new bytes. A log that does not
 * read whole is not indexed, so that each search tells its damage (INV-4). Gives up quietly where the index cannot be had.
 */
export const updateIndex = async (
  index: IndexFile,
  sources: readonly Source[],
  { isAll, progress }: { readonly isAll: boolean; readonly progress?: (done: number, total: number) => void },
): Promise<void> => {
  const left = new Set(sources)
  const total = sources.length
  const names = new Set(sources.map(({ name }) => name))
  for (let isFirst = true; isFirst || left.size > 0; isFirst = false) {
    if (!isFirst) await new Promise((resolve) => setTimeout(resolve, turnPause))
    const done = await index.use('write', async (database) => {
      if (isFirst && isAll) await removeGone(database, names)
      await indexSome(database, left, () => progress?.(total - left.size, total))
      return true
    })
    if (done === null) return
  }
}

/** What is no longer in the store is no longer in the index. */
const removeGone = (database: IndexDatabase, names: ReadonlySet<string>): Promise<void> =>
  database.within(async () => {
    for (const [name, { n }] of database.logs()) if (!names.has(name)) database.removeLog(n)
  })

const indexSome = async (database: IndexDatabase, left: Set<Source>, progress: () => void): Promise<void> => {
  const known = database.logs()
  const work = new Work(database)
  await database.within(async () => {
    for (const source of left) {
      progress()
      if (await work.index(source, known.get(source.name))) left.delete(source)
      if (work.isEnough) return
    }
    database.setDigests(digestsOf([...database.logs()].map(([name, { stamp }]) => ({ name, stamp }))))
  })
}

/** One turn's work on the index. */
class Work {
  #read = 0

  constructor(readonly database: IndexDatabase) {}

  get isEnough(): boolean {
    return this.#read >= turnBytes
  }

  /** True: done with this log, for good or ill. */
  async index(source: Source, known: IndexedLog | undefined): Promise<boolean> {
    const stamp = source.log.stamp(source.session)
    if (stamp === null || covers(known, stamp)) return true
    const grew =
      known !== undefined && known.stamp.identity === stamp.identity && known.stamp.bytes < stamp.bytes
    const rest = grew ? await this.#from(source, stamp, known) : null
    if (rest !== null && rest !== 'changed') return rest
    if (known !== undefined) this.database.removeLog(known.n)
    return (await this.#from(source, stamp, null)) === true
  }

  /** `changed`: what was read before no longer stands there. */
  async #from(source: Source, stamp: LogStamp, known: IndexedLog | null): Promise<boolean | 'changed'> {
    let isWhole = true
    let at = known
    const report = (): void => {
      isWhole = false
    }
    try {
      for await (const read of docsIn(source.log, source.session, { from: known?.from ?? 0, report })) {
        const added: DocsRead | null = at === known && known !== null ? withoutKnown(read, known) : read
        if (added === null) return 'changed'
        at = this.#add(source, stamp, added, at)
        if (!isWhole) break
        if (this.isEnough && added.last.offset + added.last.bytes.length + 1 < stamp.bytes) return false
      }
    } catch {
      isWhole = false
    }
    if (isWhole && at !== null) this.database.setLog(source.name, { ...at, stamp })
    else if (at !== null) this.database.removeLog(at.n)
    return true
  }

  #add(
    source: Source,
    { identity }: LogStamp,
    { docs, last }: DocsRead,
    before: IndexedLog | null,
  ): IndexedLog {
    const end = last.offset + last.bytes.length + 1
    // Until all is read it counts as a log that grew.
    const to = { stamp: { identity, bytes: end, modified: 0 }, from: last.offset, tail: last.id }
    const n = this.database.setLog(source.name, to)
    this.database.addDocs(n, docs.map(indexedDoc))
    this.#read += end - (before?.stamp.bytes ?? 0)
    return { ...to, n }
  }
}

/** The line that was read last must stand where it did; it is not read again. Null where it does not. */
const withoutKnown = (read: DocsRead, known: IndexedLog): DocsRead | null =>
  read.first.id !== known.tail
    ? null
    : { ...read, docs: read.docs.filter(({ offset }) => offset > known.from) }

const indexedDoc = ({ at, role, offset, texts }: Doc): IndexedDoc => {
  const length = texts.reduce((sum, text) => sum + text.length, 0)
  const text = length > mostText ? null : indexable(texts.map(foldText).join('\n'))
  return { at: Date.parse(at), role, offset, text }
}
