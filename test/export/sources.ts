import type { Event } from '../../src/events/event.js'
import { htmlReport, type PageAssets } from '../../src/export/html/report.js'
import { markdownReport } from '../../src/export/markdown/report.js'
import { outlineOf } from '../../src/export/model/outline.js'
import type { FileChange, ReportAsk, ReportFacts, ReportSource } from '../../src/export/source.js'

export const noAssets: PageAssets = { script: '', style: '' }
export const wholeSession: ReportAsk = { branch: null, from: null, to: null, all: false }

const facts: ReportFacts = {
  exportedAt: '2026-12-01T10:00:00.000Z',
  version: '1.2.3',
  workspace: '/w',
  isRedacted: true,
}

export interface SourceParts {
  /** What stands in the place of blobs. */
  readonly resolve?: (value: unknown) => unknown
  readonly redact?: (text: string) => string
  readonly changes?: readonly FileChange[]
  readonly batch?: number
}

/** Events as a report's source. */
export const sourceOf = (events: readonly Event[], parts: SourceParts = {}): ReportSource => {
  const { resolve = (value) => value, redact = (text) => text, changes = [], batch = 7 } = parts
  const redacted = async <T>(value: T): Promise<T> => mapStrings(value, redact) as T
  return {
    async *events() {
      for (let at = 0; at < events.length; at += batch) yield events.slice(at, at + batch)
    },
    resolve: async (value) => resolve(value) as typeof value,
    redact: redacted,
    redactAgain: redacted,
    changes: async () => changes,
  }
}

const mapStrings = (value: unknown, map: (text: string) => string): unknown => {
  if (typeof value === 'string') return map(value)
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map((item) => mapStrings(item, map))
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, mapStrings(item, map)]))
}

const joined = async (chunks: AsyncIterable<string>): Promise<string> => {
  let text = ''
  for await (const chunk of chunks) text += chunk
  return text
}

export const pageOf = async (
  source: ReportSource,
  ask: ReportAsk = wholeSession,
  page: PageAssets = noAssets,
): Promise<string> => {
  const outline = await outlineOf(source, ask)
  return outline === null ? '' : joined(htmlReport(outline, source, facts, page))
}

export const markdownOf = async (source: ReportSource, ask: ReportAsk = wholeSession): Promise<string> => {
  const outline = await outlineOf(source, ask)
  return outline === null ? '' : joined(markdownReport(outline, source, facts))
}
