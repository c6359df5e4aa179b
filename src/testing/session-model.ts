import type { EventId } from '../events/event.js'

/** A line of the log as the model has it. */
export interface ModelLine {
  readonly id: EventId
  readonly parent: EventId | null
  readonly type: string
  readonly note: boolean
  readonly text: string | null
  readonly from: EventId | null
}

/** A line that the model foretells: `parent` null stands for the line before it. */
export interface Foretold extends Omit<ModelLine, 'id' | 'parent'> {
  readonly parent: EventId | null
}

export interface Writer {
  position: EventId
  /** How many lines of the log it has read. */
  seen: number
}

const neutral = new Set(['checkpoint', 'restore'])

/** The log as a list, and where each writer stands: what docs/FORMAT.md says, in the plainest words. */
export class Model {
  lines: ModelLine[] = []
  acked = new Set<EventId>()
  readonly attempted = new Set<string>()
  readonly writers: [Writer, Writer]

  constructor(root: EventId) {
    this.lines.push({ id: root, parent: null, type: 'session', note: false, text: null, from: null })
    this.writers = [
      { position: root, seen: 1 },
      { position: root, seen: 1 },
    ]
  }

  get head(): EventId {
    return (this.lines.findLast(({ note }) => !note) as ModelLine).id
  }

  path(leaf: EventId): readonly ModelLine[] {
    const byId = new Map(this.lines.filter(({ note }) => !note).map((line) => [line.id, line]))
    const path: ModelLine[] = []
    for (let at = byId.get(leaf); at !== undefined; at = byId.get(at.parent ?? '')) path.unshift(at)
    return path
  }

  get open(): ReadonlySet<EventId> {
    const open = new Set<EventId>()
    for (const { id, parent, note, from } of this.lines) {
      if (note) continue
      if (from !== null) open.delete(from)
      open.delete(parent ?? '')
      open.add(id)
    }
    return open
  }

  get diverged(): readonly EventId[] {
    const heads = new Set(this.lines.filter(({ type }) => type === 'head').map(({ id }) => id))
    return [...this.open].filter((id) => id !== this.head && !heads.has(id)).sort()
  }

  texts(): readonly string[] {
    return this.path(this.head).flatMap(({ type, text }) =>
      type === 'message' && text !== null ? [text] : [],
    )
  }

  /** The newest summary on the path and what came after what it covers: everything up to where it was written. */
  context(): readonly string[] {
    const path = this.path(this.head)
    const last = path.findLastIndex(({ type }) => type === 'compaction')
    const after = path
      .slice(last + 1)
      .flatMap(({ type, text }) => (type === 'message' && text !== null ? [text] : []))
    return last < 0 ? after : [path[last]?.text ?? '', ...after]
  }

  /** A writer reads the log: it goes along with what does not change what it knows, and else stays. */
  read(writer: Writer): void {
    let position = writer.position
    for (const { id, parent, note, type } of this.lines.slice(writer.seen)) {
      if (note) continue
      if (parent !== position || !neutral.has(type)) {
        position = writer.position
        break
      }
      position = id
    }
    writer.position = position
    writer.seen = this.lines.length
  }

  /** What an append comes to once the writer has read the log. */
  foretell(writer: Writer, drafts: readonly Omit<Foretold, 'parent'>[]): readonly Foretold[] {
    const foretold: Foretold[] = []
    const isOpen = this.open.has(writer.position)
    let parent: EventId | null = writer.position
    for (const draft of drafts) {
      if (!draft.note && !isOpen && parent === writer.position)
        foretold.push({ type: 'head', note: false, text: null, from: writer.position, parent })
      if (!draft.note && !isOpen) parent = null
      foretold.push({ ...draft, parent })
      if (!draft.note) parent = null
    }
    return foretold
  }

  /** Takes in lines that stand in the log; the writer stands on the last of them that is no note. */
  add(lines: readonly ModelLine[], writer: Writer | null): void {
    this.lines.push(...lines)
    if (writer === null) return
    writer.position = lines.findLast(({ note }) => !note)?.id ?? writer.position
    writer.seen = this.lines.length
  }
}
