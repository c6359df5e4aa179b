import { sha256 } from '../../events/id.js'
import { Recent } from '../recent.js'
import type { Json } from '../remainder.js'
import { isAbove, type Node } from '../thread.js'
import { wordsOf } from './content.js'

const hashOf = (text: string): string => sha256(text)

/** A compaction keeps messages of before it: so many of each role at least are known, with what they say. */
const remembered = 2048

/** What was said, by its hash: to tell what Codex writes twice, and which messages a compaction keeps. */
export class Spoken {
  readonly #messages = new Map<unknown, Recent<{ readonly node: Node; readonly message: Json }>>()
  /** What the user said since the model last spoke, and how it came. */
  #recent: { readonly text: string; readonly parts: readonly string[]; readonly as: 'item' | 'event' }[] = []

  /** Whether the user's words came already in the other way. Remembers them. */
  isRepeated(content: unknown, as: 'item' | 'event'): boolean {
    const text = wordsOf(content)
    const parts = Array.isArray(content)
      ? content.flatMap((part) =>
          typeof part === 'object' && part !== null && 'text' in part ? [String(part.text)] : [],
        )
      : [text]
    const at = this.#recent.findIndex(
      (other) =>
        other.as !== as && (other.text === text || parts.includes(other.text) || other.parts.includes(text)),
    )
    if (at === -1) {
      this.#recent.push({ text, parts, as })
      return false
    }
    this.#recent.splice(at, 1)
    return true
  }

  /** The model speaks: what comes after is said anew. */
  clear(): void {
    this.#recent = []
  }

  add(payload: Json, node: Node): void {
    const { role, content } = payload
    const text = wordsOf(content)
    if (text === '') return
    const known = this.#messages.get(role) ?? new Recent(remembered)
    this.#messages.set(role, known)
    known.set(hashOf(text), { node, message: { role, content } })
  }

  /** The message of that role and those words on the path to `tip`. */
  find(payload: Json, tip: Node | null): { readonly node: Node; readonly message: Json } | undefined {
    const found = this.#messages.get(payload.role)?.get(hashOf(wordsOf(payload.content)))
    return found !== undefined && isAbove(found.node, tip) ? found : undefined
  }
}
