import { type BlobRef, isBlobRef } from '../../events/content.js'
import type { Event } from '../../events/event.js'
import { listOf, type Members, membersOf, recordOf, stringOf } from '../../projections/members.js'

/** Loads a blob; null where it is missing or damaged, which is told elsewhere. */
export type LoadBlob = (ref: BlobRef) => Promise<Buffer | null>

/** What is searched of each type: what people, models and tools said, and the names that they gave. */
const valuesOf: Readonly<Record<string, (members: Members) => readonly unknown[]>> = {
  message: ({ content, reasoning, refusal, toolCalls, meta }) => [
    content,
    reasoning,
    refusal,
    ...listOf(toolCalls).flatMap(callValues),
    recordOf(recordOf(meta)?.fullOutput)?.text ?? null,
  ],
  compaction: ({ summary }) => [summary],
  branch: ({ name, summary }) => [name, summary],
  edit: ({ replacement }) => [replacement],
  custom: ({ content }) => [content],
  title: ({ title }) => [title],
  label: ({ label }) => [label],
}

const callValues = (call: unknown): readonly unknown[] => {
  const { name, arguments: given } = recordOf(call) ?? {}
  return [name, new Arguments(given)]
}

/** A call's arguments, as the model wrote them: JSON for the most part, whose strings are searched unescaped too. */
class Arguments {
  constructor(readonly text: unknown) {}
}

/** Whether events of that type hold anything that is searched. */
export const isSearched = (type: string): boolean => Object.hasOwn(valuesOf, type)

/** The role of a message; null for everything else that is searched. */
export const roleOf = (event: Event): string | null =>
  event.type === 'message' ? stringOf(membersOf(event).role) : null

/** The texts of an event that a search looks through, each by itself: no hit goes from one into the next. */
export const textsOf = async (event: Event, load: LoadBlob): Promise<readonly string[]> => {
  const texts: string[] = []
  for (const value of valuesOf[event.type]?.(membersOf(event)) ?? []) {
    if (value instanceof Arguments) await takeArguments(value.text, texts, load)
    else await take(value, texts, load, maxDepth)
  }
  return texts
}

/** Texts of parts of parts, and of blobs that name blobs. */
const maxDepth = 6

const take = async (value: unknown, texts: string[], load: LoadBlob, depth: number): Promise<void> => {
  if (typeof value === 'string') {
    if (value !== '') texts.push(value)
  } else if (depth === 0) return
  else if (isBlobRef(value)) await takeBlob(value, texts, load, depth)
  else if (Array.isArray(value)) for (const item of value) await take(item, texts, load, depth - 1)
  else {
    // A part: its words, whatever its type; the data of media is none.
    const { text, alt } = recordOf(value) ?? {}
    if (text !== undefined) await take(text, texts, load, depth - 1)
    if (alt !== undefined) await take(alt, texts, load, depth - 1)
  }
}

const takeBlob = async (ref: BlobRef, texts: string[], load: LoadBlob, depth: number): Promise<void> => {
  if (ref.as === 'base64') return
  const bytes = await load(ref)
  if (bytes === null) return
  const text = bytes.toString()
  await take(ref.as === 'json' ? parsed(text) : text, texts, load, depth - 1)
}

const parsed = (json: string): unknown => {
  try {
    return JSON.parse(json)
  } catch {
    return null
  }
}

const takeArguments = async (value: unknown, texts: string[], load: LoadBlob): Promise<void> => {
  const raw: string[] = []
  await take(value, raw, load, maxDepth)
  for (const text of raw) {
    if (text.includes('\\')) texts.push(...stringsIn(parsed(text), maxDepth))
    texts.push(text)
  }
}

/** The strings of a JSON value that stand otherwise in its text. */
const stringsIn = (value: unknown, depth: number): readonly string[] => {
  if (typeof value === 'string') return [value]
  if (typeof value !== 'object' || value === null || depth === 0) return []
  return Object.values(value).flatMap((item) => stringsIn(item, depth - 1))
}
