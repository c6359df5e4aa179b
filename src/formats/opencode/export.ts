import type { FailureItem } from '../format.js'
import { readDocument } from '../json-document.js'
import { isObject } from '../remainder.js'
import type { StoredMessage, StoredSession } from './stored.js'

/** What `opencode export` writes: one object of the session's record and its messages with their parts. */
export const readExport = async (
  source: string,
): Promise<{ readonly session: StoredSession | null; readonly failures: readonly FailureItem[] }> => {
  const { head, records, faults } = await readDocument(source, {
    lists: new Set(['messages']),
    isRecord: isMessage,
  })
  const failures: FailureItem[] = faults.map(({ line, reason }) => ({ kind: 'failed', line, reason }))
  const messages: StoredMessage[] = []
  for (const { value, line, raw } of records) {
    if (isMessage(value))
      messages.push({
        info: value.info,
        parts: value.parts.filter(isObject),
        line,
        ...(raw === undefined ? {} : { raw }),
      })
    else
      failures.push({
        kind: 'failed',
        line,
        reason: 'not a message: should be an object with info and parts',
      })
  }
  const info = isObject(head.info) ? head.info : null
  if (info === null && messages.length === 0) return { session: null, failures }
  return { session: { info: info ?? {}, messages, line: 1 }, failures }
}

const isMessage = (value: unknown): value is { info: Record<string, unknown>; parts: readonly unknown[] } =>
  isObject(value) && isObject(value.info) && Array.isArray(value.parts)
