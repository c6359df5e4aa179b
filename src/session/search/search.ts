import { Refused } from '../../events/errors/index.js'
import type { SearchHit, SearchOptions } from '../api.js'
import type { Home } from '../store/home.js'
import type { Candidate, IndexDatabase, IndexedLog } from './database.js'
import { isSameDigest } from './digests.js'
import { type Question, questionOf } from './hits.js'
import { IndexFile } from './index-file.js'
import { merged } from './merge.js'
import { newestTimes, type Source, sourcesIn } from './sources.js'
import { anyTime, CandidateStream, ScanStream, type Stream } from './streams.js'
import { indexQueryOf } from './trigrams.js'
import { covers, isBehind, updateIndex } from './update.js'

/**
 * The events that hold a text, newest first, as they are found. The index only says where to look: every hit is read from
 * its log, and what the index does not know or cannot answer is read whole (INV-8). Rejects with Refused for a text of white
 * space alone.
 */
export async function* searchStore(home: Home, options: SearchOptions): AsyncGenerator<SearchHit> {
  if (options.text.trim() === '')
    throw new Refused('nothing to search for: the text is empty', '', 'give a text')
  const sources = sourcesIn(home, options.workspace)
  const question = questionOf(options)
  const streams = await streamsOf(home, sources, question, options)
  let given = 0
  for await (const hit of merged(streams)) {
    if (given++ >= (options.limit ?? Number.POSITIVE_INFINITY)) return
    yield hit
  }
}

const streamsOf = async (
  home: Home,
  sources: readonly Source[],
  question: Question,
  options: SearchOptions,
): Promise<readonly Stream[]> => {
  const indexed = options.scan === true ? null : await fromIndex(home, sources, question, options)
  if (indexed !== null) return indexed
  const times = newestTimes(home, sources)
  return sources.map((source) => new ScanStream(source, question, times.get(source.name) ?? anyTime))
}

/** Null where the index cannot be had, or cannot answer. */
const fromIndex = async (
  home: Home,
  sources: readonly Source[],
  question: Question,
  { workspace, progress }: SearchOptions,
): Promise<readonly Stream[] | null> => {
  const query = indexQueryOf(question.finder.folded)
  const index = query === null ? null : IndexFile.of(home)
  if (query === null || index === null || sources.length === 0) return null
  const isAll = workspace === undefined
  const ask = (
    database: IndexDatabase,
    known: ReadonlyMap<string, IndexedLog> | null,
  ): readonly Stream[] | null => {
    const candidates = database.candidates(query, question.role)
    if (candidates === null) return null
    const byName = candidatesByName(candidates, database)
    return sources.flatMap((source) => streamFrom(known, source, byName.get(source.name), question))
  }
  const asked = await index.use('read', async (database) => {
    if (isSameDigest(database.digests(), sources, isAll)) return ask(database, null)
    const known = database.logs()
    return isBehind(known, sources, isAll) ? behind : ask(database, known)
  })
  if (asked !== behind) return asked
  await updateIndex(index, sources, { isAll, ...(progress === undefined ? {} : { progress }) })
  return index.use('read', async (database) => ask(database, database.logs()))
}

const behind = Symbol('the index is behind')

const candidatesByName = (
  candidates: readonly Candidate[],
  database: IndexDatabase,
): ReadonlyMap<string, readonly Candidate[]> => {
  const byLog = new Map<number, Candidate[]>()
  for (const candidate of candidates) {
    const list = byLog.get(candidate.n)
    if (list === undefined) byLog.set(candidate.n, [candidate])
    else list.push(candidate)
  }
  const names = database.namesOf(byLog.keys())
  return new Map([...byLog].map(([n, list]) => [names.get(n) ?? '', list]))
}

/** `known`: null where the index knows all of every log. */
const streamFrom = (
  known: ReadonlyMap<string, IndexedLog> | null,
  source: Source,
  candidates: readonly Candidate[] | undefined,
  question: Question,
): readonly Stream[] => {
  if (known !== null && !covers(known.get(source.name), source.stamp))
    return [new ScanStream(source, question, anyTime)]
  return candidates === undefined ? [] : [new CandidateStream(source, question, candidates)]
}
