import type { FailureItem } from './format.js'
import type { JsonFault, JsonRecord } from './jsonl.js'
import { isObject, type Json } from './remainder.js'
import type { Remarks } from './remarks.js'

/** A record that is an object, as every reader wants it. */
export interface ObjectRecord extends JsonRecord {
  readonly value: Json
}

export interface RecordsOptions {
  readonly remarks: Remarks
  /** Whose remarks they are; null: the first session's. */
  readonly session?: string | null
  /** What the tool calls its records: `entry`. */
  readonly noun: string
}

/** The records of a JSONL source, what could not be read as failures, what is odd as remarks. */
export async function* recordsIn(
  found: AsyncIterable<JsonRecord | JsonFault>,
  { remarks, session = null, noun }: RecordsOptions,
): AsyncGenerator<ObjectRecord | FailureItem> {
  for await (const item of found) {
    const { line } = item
    if (item.kind === 'fault') yield { kind: 'failed', line, reason: item.reason }
    else if (!isObject(item.value))
      yield { kind: 'failed', line, reason: `not a ${noun}: should be a JSON object` }
    else {
      if (item.fault !== undefined) remarks.add(session, `line ${line} ${item.fault}`)
      for (const more of item.more ?? [])
        remarks.add(session, `line that continues a ${noun}: one stands on many lines`, more)
      yield { ...item, value: item.value }
    }
  }
}
