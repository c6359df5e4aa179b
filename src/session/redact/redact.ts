import { join } from 'node:path'
import { NotFound, Refused } from '../../events/errors/index.js'
import type { Event, EventId } from '../../events/event.js'
import { logName } from '../../events/file-log/file-log.js'
import { openLocked, replaceLog } from '../../events/file-log/replace.js'
import type { FileHandle } from '../../events/ports.js'
import { forget } from '../search/forget.js'
import type { Home } from '../store/home.js'
import { dropRows, settleIndex } from '../store/index-file.js'
import { workspaceLayout } from '../store/layout.js'
import { lostTail } from '../store/lost-tail.js'
import { oldCopiesIn } from '../store/old-copies.js'
import type { Place } from '../store/places.js'
import { others } from '../store/presence.js'
import { reindex } from '../store/reindex.js'
import { findElsewhere, marksOf } from './elsewhere.js'
import { findSecrets } from './find.js'
import { canBeRedacted } from './kept.js'
import type { Redacted, RedactOptions } from './redacted.js'
import { type Rewritten, rewrite, type Standing } from './rewrite.js'
import { standingIn } from './standing.js'
import { staleBlobs, sweep } from './sweep.js'
import { type Aside, asideFor, finishAside, isStillOld, linkAside, unfinishedOf } from './taking-aside.js'

/**
 * Replaces the payloads of events by tombstones (docs/SECRETS.md): in a new log that takes the old one's place in one
 * step, so that whatever happens either the old log is there or the new one. Also finishes what an earlier redaction
 * left undone. Rejects with Refused (a conflict) while someone holds the session open.
 */
export const redactSession = async (
  home: Home,
  place: Place,
  id: EventId,
  options: RedactOptions,
): Promise<Redacted> => {
  const { events = [], detect = false, dryRun = false, reason = 'asked for' } = options
  const redaction = new Redaction(home, place, id)
  redaction.mustBeFree()
  const lost = await lostTail(home, place, id, true)
  if (lost !== null) throw lost
  const all = detect ? await findSecrets(home, place, id) : []
  const wanted = new Set(events)
  const found = all.filter(({ event }) => events.length === 0 || wanted.has(event))
  const named = new Set(detect ? found.map(({ event }) => event) : events)
  if (!detect) await mustBeRedactable(home, place, id, wanted)
  const done = await redaction.run(named, detect ? 'secrets were detected' : reason, dryRun)
  return { ...done, found, staying: found.filter(({ type }) => !canBeRedacted(type)) }
}

/** Refuses an event that cannot be redacted, before anything is done. Rejects with NotFound where one is not there. */
const mustBeRedactable = async (
  home: Home,
  place: Place,
  id: EventId,
  wanted: ReadonlySet<EventId>,
): Promise<void> => {
  const types = new Map<EventId, string>()
  for await (const batch of home.log(place.folder).readForward(id))
    for (const line of batch) if (wanted.has(line.id)) types.set(line.id, line.type)
  for (const event of wanted) {
    const type = types.get(event)
    if (type === undefined) throw new NotFound('event', event, `session ${id}`, 'see `coppice log SESSION`')
    if (type === 'session')
      throw new Refused(
        'the first event of a session is never redacted',
        `session ${id}`,
        'delete the session, and purge the archive',
      )
    if (!canBeRedacted(type))
      throw new Refused(`a ${type} event holds nothing to redact`, `session ${id}`, 'name another event')
  }
}

type Done = Omit<Redacted, 'found' | 'staying'>

class Redaction {
  readonly #folder: string
  readonly #path: string

  constructor(
    readonly home: Home,
    readonly place: Place,
    readonly id: EventId,
  ) {
    this.#folder = workspaceLayout(place.folder).session(id)
    this.#path = join(this.#folder, logName)
  }

  mustBeFree(): void {
    const [holder] = others(workspaceLayout(this.place.folder).presence(this.id), this.home.ports.fs)
    if (holder !== undefined)
      throw new Refused(
        `process ${holder.pid} holds it open`,
        `session ${this.id}`,
        'close it there first',
        true,
      )
  }

  async run(named: ReadonlySet<EventId>, reason: string, dryRun: boolean): Promise<Done> {
    const old = await openLocked(this.home.ports.fs, this.#path)
    try {
      const standing = await this.#standing(old)
      if (!dryRun) await this.#finishEarlier(standing)
      const rewritten = rewrite(standing, named, reason, this.home.ports.clock.now())
      const archived = rewritten === null || dryRun ? null : await this.#replace(rewritten)
      return await this.#told(standing, rewritten, archived)
    } finally {
      old.close()
    }
  }

  #standing(old: FileHandle): Promise<readonly Standing[]> {
    const { blobs } = this.home.log(this.place.folder)
    return standingIn(old, this.id, (ref) => blobs.get(this.id, ref))
  }

  /** Caches first, so that they hold nothing of it whenever this is cut short, and again when the new log is there. */
  async #replace(rewritten: Rewritten): Promise<string> {
    const aside = asideFor(this.home, this.place, this.id)
    try {
      const blobs = [...rewritten.blobs, ...staleBlobs(this.home, this.#folder, rewritten.named)]
      await linkAside(this.home, this.#folder, aside, [...new Set(blobs)])
      this.#dropCaches()
      await replaceLog(this.#path, rewritten.lines, this.home.ports, () => this.mustBeFree())
    } catch (error) {
      this.#giveUp(aside)
      throw error
    }
    await this.#finish(aside, rewritten.named)
    return aside.final
  }

  async #finish(aside: Aside, names: ReadonlySet<string>): Promise<void> {
    await forget(this.home, this.id)
    await finishAside(this.home, this.#folder, aside, names)
    await reindex(this.home, [
      { id: this.id, key: this.place.key, workspace: this.place.path, place: this.place },
    ])
    await settleIndex(this.home.ports.fs, workspaceLayout(this.place.folder).index)
  }

  /** Where the new log is in place all the same (its folder would not sync), the next redaction finishes this one. */
  #giveUp({ working }: Aside): void {
    const { fs } = this.home.ports
    try {
      const [old, now] = [fs.stat(join(working, logName)), fs.stat(this.#path)]
      if (old === null || (old.dev === now?.dev && old.ino === now.ino)) fs.remove(working)
    } catch {
      // What stopped it stops this too: the next redaction tidies up.
    }
  }

  #dropCaches(): void {
    const { fs, random } = this.home.ports
    dropRows(fs, workspaceLayout(this.place.folder).index, [this.id], random)
  }

  async #finishEarlier(standing: readonly Standing[]): Promise<void> {
    const { fs } = this.home.ports
    const lines = standing.map(({ line }) => line)
    const names = new Set(standing.flatMap(({ traces }) => traces.blobs))
    sweep(this.home, this.place, this.#folder)
    for (const aside of unfinishedOf(this.home, this.place, this.id)) {
      if (isStillOld(this.home, aside, lines)) fs.remove(aside.working)
      else {
        this.#dropCaches()
        await this.#finish(aside, names)
      }
    }
  }

  async #told(
    standing: readonly Standing[],
    rewritten: Rewritten | null,
    archived: string | null,
  ): Promise<Done> {
    const redacted = new Set(rewritten?.redacted)
    const gone: Event[] = standing.flatMap(({ line, event }) => (redacted.has(line.id) ? [event] : []))
    const own = { place: this.place, id: this.id }
    return {
      redacted: rewritten?.redacted ?? [],
      followed: rewritten?.followed ?? [],
      archived,
      oldCopies: oldCopiesIn(this.home, this.place).filter(
        ({ session, path }) => session === this.id && path !== archived,
      ),
      elsewhere: gone.length === 0 ? [] : await findElsewhere(this.home, own, marksOf(gone)),
      hasCheckpoints: standing.some(({ line }) => line.type === 'checkpoint'),
    }
  }
}
