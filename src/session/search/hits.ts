import type { Damage } from '../../events/errors/index.js'
import type { Line } from '../../events/line.js'
import type { SearchHit, SearchOptions } from '../api.js'
import { type Doc, docOf, docsIn } from './docs.js'
import { Finder } from './excerpt.js'
import type { Source } from './sources.js'

/** What is asked, ready to be held against events. */
export interface Question {
  readonly finder: Finder
  readonly role: string | null
  readonly report: (source: Source, problem: { readonly damage: Damage } | { readonly error: Error }) => void
}

export const questionOf = ({ text, role, report }: SearchOptions): Question => ({
  finder: new Finder(text),
  role: role ?? null,
  report: ({ session }, problem) => report?.({ session, ...problem }),
})

/** A hit, and where it stands in its log. */
export interface Found {
  readonly hit: SearchHit
  readonly offset: number
}

export const foundIn = (source: Source, doc: Doc, { finder, role }: Question): Found | null => {
  if (role !== null && doc.role !== role) return null
  const excerpt = finder.find(doc.texts)
  if (excerpt === null) return null
  const { session, workspace } = source
  const { excerpt: text, from, to } = excerpt
  const { event, at, type, role: own, offset } = doc
  return { hit: { session, workspace, event, at, type, role: own, excerpt: text, match: [from, to] }, offset }
}

/** Newest first; of one time, later in the log first. An event that stands in the log twice is found once. */
export const inOrder = (found: readonly Found[]): readonly Found[] => {
  const seen = new Set<string>()
  return [...found]
    .sort((a, b) => (a.hit.at < b.hit.at ? 1 : a.hit.at > b.hit.at ? -1 : b.offset - a.offset))
    .filter(({ hit }) => !seen.has(hit.event) && seen.add(hit.event))
}

/** Every hit in a log, by reading all of it: what the index is held against. */
export const scan = async (source: Source, question: Question): Promise<readonly Found[]> => {
  const found: Found[] = []
  try {
    const report = (damage: Damage): void => question.report(source, { damage })
    for await (const { docs } of docsIn(source.log, source.session, { report })) {
      for (const doc of docs) {
        const one = foundIn(source, doc, question)
        if (one !== null) found.push(one)
      }
    }
  } catch (error) {
    question.report(source, { error: error as Error })
  }
  return inOrder(found)
}

/** Most lines fit; one that is longer is read in steps (bytes). */
export const lineChunk = 16 * 1024

/**
 * The events whose lines begin at these places, in order of place. Null where something else stands there: the log was
 * replaced, or the index is wrong.
 */
export const docsAt = async (source: Source, offsets: readonly number[]): Promise<readonly Doc[] | null> => {
  const { log, session } = source
  const docs: Doc[] = []
  let isSound = true
  const report = (): void => {
    isSound = false
  }
  try {
    for (let next = 0; next < offsets.length; ) {
      const lines = await batchAt(source, offsets[next] as number, report)
      const before = next
      for (const line of lines) {
        if (line.offset !== offsets[next]) continue
        const doc = await docOf(log, session, line, report)
        if (doc === null) return null
        docs.push(doc)
        next++
      }
      if (next === before || !isSound) return null
    }
  } catch {
    return null
  }
  return docs
}

const batchAt = async (
  { log, session }: Source,
  from: number,
  report: () => void,
): Promise<readonly Line[]> => {
  for await (const lines of log.readForward(session, { from, report, chunk: lineChunk })) return lines
  return []
}
