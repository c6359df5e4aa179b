import { Damaged } from '../errors/index.js'
import type { Line } from '../line.js'
import type { ReadOptions } from '../log.js'
import type { FileHandle } from '../ports.js'
import { forwardChunk, newline, readerPatience } from './constants.js'
import { lock } from './lock.js'
import { Nodes } from './nodes.js'
import { readFully, type Segment, scanForward } from './scan.js'
import { isVoid, reportSkipped, type Survey, stopOf, survey } from './survey.js'

interface Progress {
  /** Ids that may be parents; null where the reader began in the middle and takes links on trust. */
  readonly nodes: Nodes | null
  sawEvent: boolean
}

/**
 * First to last. The common log decodes throughout: one pass, links checked as it goes. At the first bytes that do not
 * decode, a survey of the whole file says what they are; then the pass goes on from there.
 */
export async function* readForward(
  file: FileHandle,
  options: ReadOptions = {},
  chunkSize: number = options.chunk ?? forwardChunk,
): AsyncGenerator<readonly Line[]> {
  const from = lineStart(file, options.from ?? 0)
  const progress: Progress = { nodes: from === 0 ? new Nodes() : null, sawEvent: from > 0 }
  for (const segments of scanForward(file, from, chunkSize)) {
    const { lines, stopped } = takeWhole(segments, progress)
    if (lines.length > 0) yield lines
    if (stopped !== null) {
      yield* readSurveyed(file, stopped, { ...options, from }, chunkSize)
      return
    }
  }
  // An empty file, or one that ends before its root does, is no session.
  if (!progress.sawEvent) yield* readSurveyed(file, 0, options, chunkSize)
}

/** Who read the last line while it had no newline yet goes on at that newline; the next line begins after it. */
const lineStart = (file: FileHandle, from: number): number => {
  if (from === 0) return 0
  const [before, at] = readFully(file, from - 1, 2)
  return before !== newline && at === newline ? from + 1 : from
}

const takeWhole = (
  segments: readonly Segment[],
  progress: Progress,
): { readonly lines: readonly Line[]; readonly stopped: number | null } => {
  const lines: Line[] = []
  for (const { line, start } of segments) {
    if (line === null || !isLinked(line, progress)) return { lines, stopped: start }
    progress.sawEvent = true
    if (!line.note) progress.nodes?.add(line)
    lines.push(line)
  }
  return { lines, stopped: null }
}

const isLinked = (line: Line, { nodes, sawEvent }: Progress): boolean => {
  if (nodes === null) return line.parent !== null
  return line.parent === null ? !sawEvent && line.type === 'session' : nodes.has(line.parent)
}

/** The rest of a log, from the byte `at` on, by what a survey of the whole says of it. */
async function* readSurveyed(
  file: FileHandle,
  at: number,
  options: ReadOptions,
  chunkSize: number,
): AsyncGenerator<readonly Line[]> {
  const found = await surveySettled(file)
  reportSkipped(found, options)
  const damage = stopOf(found, options)
  const stop = damage?.offset ?? Number.POSITIVE_INFINITY
  for (const segments of scanForward(file, at, chunkSize)) {
    const lines = segments.flatMap(({ line }) =>
      line === null || line.offset >= stop || isVoid(found, line, options) ? [] : [line],
    )
    if (lines.length > 0) yield lines
    if (segments.some(({ end }) => end > stop)) break
  }
  if (damage !== null) throw new Damaged(file.path, damage)
}

/**
 * A torn tail may be an append under way: look again under a shared lock, which a writer's bars, before saying so. A
 * writer that holds its lock for longer than a reader's patience is waited for no more.
 */
export const surveySettled = async (file: FileHandle): Promise<Survey> => {
  const found = survey(file)
  if (!found.junk.some(({ kind }) => kind === 'torn-tail')) return found
  try {
    await lock(file, 'shared', () => null, readerPatience)
  } catch {
    return survey(file)
  }
  try {
    return survey(file)
  } finally {
    file.unlock()
  }
}
