import { InStoredForm } from '../../events/blob.js'
import type { EventId } from '../../events/event.js'
import { noteTypes } from '../../events/event.js'
import { sha256 } from '../../events/id.js'
import type { EventItem, MoveItem } from '../../formats/format.js'
import { editKey, type ImportTarget } from './target.js'

/** What came of an item beside events: words for the person who imports. */
export type Say = (text: string) => void

/** Follows a source through one session: which of its events the source stands at. */
export class SourceCursor {
  #at: EventId | null = null
  #key = ''
  #time = ''

  constructor(
    readonly target: ImportTarget,
    readonly say: Say,
  ) {}

  /** A record that is there already is passed over, or becomes an edit where its content changed; a new one is written. */
  async event(item: EventItem): Promise<void> {
    const { target } = this
    const payload = item.payload(target.idOf)
    const isNote = noteTypes.has(item.type)
    const found = target.compare(item.key, payload)
    if (found === 'changed') await this.#changed(item, payload)
    const id =
      found === null ? await this.#write(item, payload, isNote) : (target.idOf(item.key) ?? target.id)
    if (!isNote) this.#stand(id, item.key, item.at)
  }

  async #write(item: EventItem, payload: Record<string, unknown>, isNote: boolean): Promise<EventId> {
    const { target } = this
    const parent = this.#parentOf(item)
    const hung = isNote ? target.baseOf(parent) : await this.#reach(parent, item.key, item.at, 'branch')
    return target.add({ ...item, parent: hung, note: isNote, payload })
  }

  #parentOf({ parent }: EventItem): EventId {
    if (parent === null) return this.target.id
    const id = this.target.idOf(parent)
    if (id === null) this.say('record hangs on one that was not carried: hung on the one before')
    return id ?? this.#at ?? this.target.id
  }

  /** The source's record is no longer what was imported. What is there stays; what it says now is an edit of it (INV-1). */
  async #changed({ key, at, type }: EventItem, payload: Record<string, unknown>): Promise<void> {
    const { target } = this
    const id = target.idOf(key)
    if (type !== 'message' || id === null) {
      this.say(`${type} record changed in its source since it was imported: kept as it was`)
      return
    }
    if (!target.saysOtherwise(key, payload)) {
      this.say('message record changed in its source since it was imported, its content not: kept as it was')
      return
    }
    const replacement = payload.content ?? null
    const edit = `${key}${editKey}${sha256(JSON.stringify(payload)).slice(0, 12)}`
    if (target.idOf(edit) !== null) return
    this.say('message changed in its source since it was imported: kept, with an edit of its content')
    const parent = await this.#reach(target.position, edit, at, 'branch')
    target.add({ key: edit, parent, at, type: 'edit', note: false, payload: { target: id, replacement } })
  }

  async move({ key, to, at, reason }: MoveItem): Promise<void> {
    const { target } = this
    const id = target.idOf(to)
    if (id === null) {
      this.say('head moved to a record that was not carried: left where it was')
      return
    }
    // Whether the source moved is told by its own records alone: what is there by now says nothing of then.
    const isThere = this.#at === id || target.baseOf(target.position) === id
    if (target.idOf(key) === null && !isThere) await this.#moveTo(id, key, at, reason)
    this.#stand(id, key, at)
  }

  #stand(id: EventId, key: string, at: string): void {
    this.#at = id
    this.#key = key
    this.#time = at
  }

  /** Where an event that hangs on `parent` is put: there, if it is an open end, else after a `head` event. */
  async #reach(parent: EventId, key: string, at: string, reason: MoveItem['reason']): Promise<EventId> {
    const { target } = this
    if (target.baseOf(target.position) === parent && target.isOpen(target.position)) return target.position
    return target.isOpen(parent) && target.position === parent
      ? parent
      : this.#moveTo(parent, `${key}#head`, at, reason)
  }

  async #moveTo(to: EventId, key: string, at: string, reason: MoveItem['reason']): Promise<EventId> {
    const { target } = this
    const row = new InStoredForm(await target.rowAt(to))
    const payload = { to, from: target.position, reason, row }
    return target.add({ key, parent: to, at, type: 'head', note: false, payload })
  }

  /**
   * The source's last record says where it stands. Where its tool took records away since (an undo that cuts the file),
   * the head goes back to there; where someone went on here, the head stays theirs.
   */
  async end(): Promise<void> {
    const { target } = this
    const at = this.#at
    if (at === null || !target.isAtHead || target.baseOf(target.position) === target.baseOf(at)) return
    this.say('source ends above what was imported before: the head moved back to there')
    await this.#moveTo(at, `${this.#key}#end:${target.position}`, this.#time, 'undo')
  }
}
