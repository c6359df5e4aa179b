import type { EventItem, MoveItem } from './format.js'
import { KeyCounts } from './key-counts.js'
import type { RecentNodes } from './recent.js'
import type { Json } from './remainder.js'
import type { Remarks } from './remarks.js'

/** One event that was placed in a session being read. */
export interface Node {
  readonly key: string
  /** null too where it stands too far above to be known. */
  parent: Node | null
  readonly depth: number
  /** Calls whose results nothing gave yet; the user's next words end the wait. */
  readonly open: ReadonlySet<string>
  /** The last event that the nearest compaction at or above covers. */
  readonly through: Node | null
}

/** Whether `ancestor` lies on the path to `node`, itself included. */
export const isAbove = (ancestor: Node, node: Node | null): boolean => {
  let at = node
  while (at !== null && at.depth > ancestor.depth) at = at.parent
  return at === ancestor
}

/**
 * The last event that a compaction on `on` may cover, where its tool covers up to `upTo`: never an open call, never less
 * than an earlier compaction. null where nothing is left to cover.
 */
export const coverable = (upTo: Node | null, on: Node | null): Node | null => {
  let settled = upTo
  while (settled !== null && settled.open.size > 0) settled = settled.parent
  const earlier = on?.through ?? null
  return earlier !== null && (settled === null || settled.depth < earlier.depth) ? earlier : settled
}

/** Where an event comes from; `raw` on one event of a record only. */
export interface Origin {
  readonly line?: number | undefined
  readonly raw?: string | undefined
}

export interface Draft extends Origin {
  readonly key: string
  readonly type: string
  readonly payload: Record<string, unknown> | EventItem['payload']
  readonly extra?: Json | undefined
  readonly at?: string | undefined
}

export interface Placing extends Draft {
  /** Where it hangs; the tip where it is left out. */
  readonly on?: Node | null | undefined
  readonly calls?: readonly string[] | undefined
  readonly results?: readonly string[] | undefined
  /** The user speaks: calls that wait for a result will get none. */
  readonly isTurn?: boolean | undefined
  readonly through?: Node | undefined
}

const none: ReadonlySet<string> = new Set()

const openAfter = ({ calls = [], results = [], isTurn = false }: Placing, parent: Node | null) => {
  const open = isTurn ? none : (parent?.open ?? none)
  if (calls.length === 0 && !results.some((id) => open.has(id))) return open
  const next = new Set([...open, ...calls])
  for (const id of results) next.delete(id)
  return next
}

/** What a source shows of a session's status. */
export type Status = 'processing' | 'completed' | 'failed' | 'interrupted' | 'ask_permission'

/** One session being read: where its source stands, and the events that it gave. A small record an event, no content. */
export class Thread {
  #tip: Node | null = null
  #at: string
  #status: Status | null = null
  readonly #keys = new KeyCounts()

  constructor(
    readonly session: string,
    at: string,
    readonly remarks: Remarks,
    /** Where its tool looks back only so far: what stands further above is forgotten. */
    readonly nodes: RecentNodes<Node> | null = null,
  ) {
    this.#at = at
  }

  get tip(): Node | null {
    return this.#tip
  }

  get at(): string {
    return this.#at
  }

  /** The time of the record that is read now; null: it names none. */
  timeIs(at: string | null): void {
    if (at !== null) this.#at = at
  }

  say(text: string, line?: number): void {
    this.remarks.add(this.session, text, line)
  }

  /** The key itself the first time, then with a number: for records that have no id, and may stand twice. */
  unused(key: string): string {
    const times = this.#keys.add(key)
    return times === 1 ? key : this.unused(`${key}#${times}`)
  }

  /** An event that advances the conversation. */
  append(placing: Placing): EventItem {
    const parent = placing.on === undefined ? this.#tip : placing.on
    const node: Node = {
      key: placing.key,
      parent,
      depth: (parent?.depth ?? 0) + 1,
      open: openAfter(placing, parent),
      through: placing.through ?? parent?.through ?? null,
    }
    this.nodes?.push(node)
    this.#tip = node
    return this.#item(placing, parent)
  }

  /** A note: it hangs on an event and moves nothing. */
  annotate(draft: Draft, on: Node | null = this.#tip): EventItem {
    return this.#item(draft, on)
  }

  /** The head goes to an event that was given before; undefined where it is there. */
  moveTo(to: Node, key: string, reason: MoveItem['reason'], line?: number): MoveItem[] {
    if (this.#tip === to) return []
    this.stand(to)
    const move = { kind: 'move', session: this.session, key, to: to.key, at: this.#at, reason } as const
    return [line === undefined ? move : { ...move, line }]
  }

  /** What comes next hangs there; `null`: on the session's root. */
  stand(on: Node | null): void {
    if (this.#tip !== on) this.#status = null
    this.#tip = on
  }

  /** A status note, where the status changes. */
  status(key: string, status: Status, line?: number, reason?: string): EventItem[] {
    if (this.#status === status && reason === undefined) return []
    this.#status = status
    const payload = { status, ...(reason === undefined ? {} : { reason }) }
    return [this.annotate({ key: this.unused(`${key}#status`), type: 'status', payload, line })]
  }

  #item({ key, type, payload, extra, at, line, raw }: Draft, parent: Node | null): EventItem {
    return {
      kind: 'event',
      session: this.session,
      key,
      parent: parent?.key ?? null,
      at: at ?? this.#at,
      type,
      payload: typeof payload === 'function' ? payload : () => payload,
      ...(extra === undefined ? {} : { extra }),
      ...(raw === undefined ? {} : { raw }),
      ...(line === undefined ? {} : { line }),
    }
  }
}
