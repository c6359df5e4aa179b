import type { Event, EventId } from '../../events/event.js'
import { type Branch, labelsOf, type Shape } from '../write/branches.js'
import { isOwn } from '../write/own.js'
import { newLine } from '../write/whole.js'
import { type EntryId, format, type PiFile } from './write-file.js'
import { isRepeated, type OwnEntries } from './write-own.js'

/** What stands at the end of a file: its name, its labels, and which of its branches goes on. */

export interface Tail {
  readonly file: PiFile
  readonly source: OwnEntries
  readonly shape: Shape
  /** Of each branch, the current one last. */
  readonly ends: readonly BranchEnd[]
}

export interface BranchEnd {
  /** The entry that it ends at. */
  readonly entry: EntryId
  /** The last event of it that stands as the file had it. */
  readonly base: EventId | null
}

/** Pi goes on at the last entry: whatever is added hangs below the end of the current branch. */
export const writeTail = (tail: Tail): void => {
  const at = tail.shape.current.path.at(-1)?.at ?? ''
  const end = tail.ends.at(-1)?.entry ?? null
  const isElsewhere = !isLast(tail)
  const below = new Chain(tail.file, end, at)
  // A name or a label that hangs on nothing does not tell where the conversation stands.
  if (isElsewhere && end === null) addHead(below)
  addTitle(tail, below)
  addLabels(tail, below)
  if (isElsewhere && below.isEmpty) addHead(below)
}

const addHead = (below: Chain): void =>
  below.add('head', async () => ({ type: 'custom', customType: 'coppice:head' }))

/** Entries one below the other. */
class Chain {
  isEmpty = true
  constructor(
    readonly file: PiFile,
    private parent: EntryId,
    readonly at: string,
  ) {}

  add(name: string, record: () => Promise<{ readonly type: string }>): void {
    const { parent } = this
    const id = this.file.ids.take(`${this.file.session.id}#${name}`)
    this.file.lines.push(async () => {
      const { type, ...rest } = await record()
      const entry = { type, id, parentId: parent, timestamp: this.at, ...rest }
      return newLine(entry, this.file.losses, `${this.file.session.id}#${name}`)
    })
    this.parent = id
    this.file.last = id
    this.isEmpty = false
  }
}

const addTitle = ({ file, source }: Tail, below: Chain): void => {
  const { session } = file
  const named = source.events.findLast(({ type }) => type === 'title')
  if (session.title === null || session.title === named?.title) return
  below.add('title', async () => ({
    type: 'session_info',
    ...(await session.resolve({ name: session.title })),
  }))
}

/** Labels as they stand, where the file has them otherwise; the names of branches too, since Pi has no others. */
const addLabels = (tail: Tail, below: Chain): void => {
  const { file, source } = tail
  const standing = labelsOf(file.session.events)
  const inFile = labelsOf(source.events)
  const labelled = new Set<EntryId>()
  for (const [target, label] of standing) {
    const id = entryOf(file, target)
    labelled.add(id)
    if (id === null) file.losses.add('labels', target)
    else if (inFile.get(target) !== label) addLabel(file, below, id, label)
  }
  for (const target of inFile.keys()) {
    const id = entryOf(file, target)
    if (!standing.has(target) && id !== null) addLabel(file, below, id, undefined)
  }
  for (const [i, branch] of branchesIn(tail.shape).entries()) {
    const id = tail.ends[i]?.entry ?? null
    if (branch.name === 'main') continue
    if (id === null || labelled.has(id))
      file.losses.addOwn('branch names', 'name of a branch: left out', branch.leaf)
    else addLabel(file, below, id, branch.name)
  }
}

const branchesIn = ({ others, current }: Shape): readonly Branch[] => [...others, current]

const addLabel = (file: PiFile, below: Chain, targetId: string, label: string | undefined): void =>
  below.add(`label:${targetId}`, async () => ({
    type: 'label',
    targetId,
    ...(label === undefined ? {} : await file.session.resolve({ label })),
  }))

const entryOf = (file: PiFile, event: EventId): EntryId => {
  const written = file.entries.get(event)
  if (written !== undefined) return written
  const source = file.session.events.find(({ id }) => id === event)
  return source !== undefined && isOwn(source, format) ? (file.own.get(event) ?? null) : null
}

/** Whether the file ends where the conversation stands, as it is. */
const isLast = ({ file, source, ends }: Tail): boolean => {
  if (file.lines.length > 0) return file.last === ends.at(-1)?.entry
  const entries = new Set(source.events.filter((event) => isPlace(event)).map(({ id }) => id))
  const nearest = (from: EventId | null): EventId | null => {
    let at = from
    while (at !== null && !entries.has(at)) at = parents.get(at) ?? null
    return at
  }
  const parents = new Map(file.session.events.map(({ id, parent }) => [id, parent]))
  return nearest(source.events.at(-1)?.id ?? null) === nearest(ends.at(-1)?.base ?? null)
}

const isPlace = (event: Event): boolean => event.note !== true && !isRepeated(event)
