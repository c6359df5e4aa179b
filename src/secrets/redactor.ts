import { detectInTexts } from './detect.js'
import { replaceSecrets } from './matching.js'
import { mark, type Secret } from './secret.js'
import { redactedValue, textsOf } from './values.js'

/** Takes secrets out of what is about to leave the machine, and counts what it took, by kind. */
export interface Redactor {
  /** The text with `[redacted: <kind>]` in the place of each secret. */
  readonly redact: (text: string) => Promise<string>
  /** Many texts, which is much faster than one by one. */
  readonly redactAll: (texts: readonly string[]) => Promise<readonly string[]>
  /**
   * A value of JSON, its strings redacted, names and numbers as they were. What a provider signed or encrypted, media, ids
   * and hashes are left alone: members `signature`, `encrypted_content`, `data` beside a media type, and such.
   */
  readonly redactValue: <Value>(value: Value) => Promise<Value>
  /** How many secrets were taken out so far, by kind. */
  readonly counts: ReadonlyMap<string, number>
}

/** Texts repeat (a system prompt, a file read twice): the last few thousand are remembered. */
const remembered = 4096

export const redactor = async (): Promise<Redactor> => {
  const counts = new Map<string, number>()
  const known = new Map<string, readonly Secret[]>()
  const look = async (texts: readonly string[]): Promise<void> => {
    const unknown = [...new Set(texts.filter((text) => !known.has(text)))]
    if (known.size + unknown.length > remembered) known.clear()
    const found = await detectInTexts(unknown)
    unknown.forEach((text, index) => {
      known.set(text, found[index] ?? [])
    })
  }
  const replaced = (text: string): string =>
    replaceSecrets(text, known.get(text) ?? [], ({ kind }) => {
      counts.set(kind, (counts.get(kind) ?? 0) + 1)
      return mark(kind)
    })
  const redactAll = async (texts: readonly string[]): Promise<readonly string[]> => {
    await look(texts)
    return texts.map(replaced)
  }
  return {
    counts,
    redactAll,
    redact: async (text) => (await redactAll([text]))[0] ?? text,
    redactValue: async (value) => {
      await look([...textsOf(value)])
      return redactedValue(value, replaced) as typeof value
    },
  }
}
