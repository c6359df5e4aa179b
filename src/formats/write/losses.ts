import type { Loss } from '../writer.js'

/** What is said of each kind of loss. Kinds that several targets share; a writer may add its own. */
export const lossTexts = {
  branches: 'branch that the format has no place for: left out',
  forks: 'branch written as a session of its own, beside this one',
  asides: 'side question, with its answer: left out',
  'hidden messages': 'message that people do not see: left out, or shown',
  'kept from the model': 'message that the model does not get: left out',
  'system messages': 'system message: left out, the tool brings its own',
  signatures: 'signature or encrypted form of reasoning, of use to its own provider only: left out',
  reasoning: 'reasoning: left out',
  'provider blocks': "block of the provider's own: left out",
  refusals: 'refusal: written as plain text',
  images: 'image: left out, its place named',
  documents: 'document or audio: left out, its place named',
  'other parts': 'part of a kind that the format does not know: written as text',
  'empty messages': 'message that says nothing: left out',
  'image details': 'alternative text, or detail, of an image: left out',
  marks: 'mark of another program on a message: left out',
  'half characters': 'half of a character: a mark in its place',
  'call ids':
    'id of a call in characters that the target does not take, or one that stands twice: written otherwise',
  'tool names': 'name of a tool in characters that the target does not take: written otherwise',
  arguments: 'arguments that are no JSON object: written as text in one',
  edits: 'edit: the message reads as edited, its first words are not written',
  'interrupted calls': 'call without a result: given one that says so',
  'repeated calls': 'call with the id of another in the same message: left out',
  'orphan results': 'result that no call asked for: left out',
  'older results': 'result that a later one replaced: left out',
  summaries: 'summary of a branch: left out',
  compactions: 'compaction: left out, the whole conversation is written',
  'covered messages': 'message that a compaction covers: left out',
  'pinned messages': 'pinned message: stands after the summary, not before it',
  labels: 'label: left out',
  titles: 'title: left out',
  notes: 'note on a process, a permission or a request: left out',
  usage: 'count of tokens: left out',
  'usage parts': 'count of tokens that is none, or more than what it is a part of: cut to what can be',
  costs: 'cost in US dollars: left out',
  timing: 'measured time: left out',
  models: 'name of the model or provider: left out',
  stops: 'reason why an answer stopped: written in the words of the target, or left out',
  'failed results': 'mark that a call failed, or succeeded: left out',
  checkpoints: 'code checkpoint: left out, code is not carried',
  'own events': 'event of another program: left out',
  'sub-agents': "sub-agent's session: left out",
} as const

export type LossKind = keyof typeof lossTexts

/** Counts what a writer has to leave out or change, so that a thousand of a kind are one line. */
export class Losses {
  readonly #counts = new Map<string, { text: string; count: number }>()
  readonly #seen = new Set<string>()

  /** What has a `key` (of a step, or the id of an event) counts once, however many branches share it. */
  add(kind: LossKind, key: string): void {
    this.addOwn(kind, lossTexts[kind], key)
  }

  /** A loss that only one target knows. */
  addOwn(kind: string, text: string, key: string): void {
    const name = `${kind}\n${key}`
    if (this.#seen.has(name)) return
    this.#seen.add(name)
    const entry = this.#counts.get(kind) ?? { text, count: 0 }
    entry.count++
    this.#counts.set(kind, entry)
  }

  list = (): readonly Loss[] =>
    [...this.#counts]
      .map(([kind, { text, count }]) => ({ kind, count, text }))
      .sort((a, b) => (a.kind < b.kind ? -1 : 1))
}
