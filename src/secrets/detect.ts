import { apart, matchSecrets, shortest } from './matching.js'
import type { Secret } from './secret.js'

type Lint = (text: string) => Promise<readonly Secret[]>

let loading: Promise<Lint> | undefined

/** Loaded when the first text asks: most runs of a program look for no secret. */
const linter = (): Promise<Lint> => {
  loading ??= import('./secretlint.js').then(({ lintSecrets }) => lintSecrets())
  return loading
}

/** Between texts that are looked through together; no secret holds it. */
const boundary = '\n\u0000\u0000\n'

/** Characters looked through in one call, unless one text alone has more. */
const together = 256 * 1024

/** The secrets of a text: in order, none overlapping another. */
export const detectSecrets = async (text: string): Promise<readonly Secret[]> =>
  (await detectInTexts([text]))[0] ?? []

/** The same for many texts, which is much faster than one by one. */
export const detectInTexts = async (texts: readonly string[]): Promise<(readonly Secret[])[]> => {
  const found = texts.map((text) => [...matchSecrets(text)])
  const long = texts.map((_, index) => index).filter((index) => (texts[index] ?? '').length >= 2 * shortest)
  if (long.length === 0) return found
  const lint = await linter()
  for (const batch of batches(texts, long)) await lintTogether(lint, texts, batch, found)
  return found.map(apart)
}

function* batches(texts: readonly string[], indices: readonly number[]): Generator<number[]> {
  let batch: number[] = []
  let size = 0
  for (const index of indices) {
    const { length } = texts[index] ?? ''
    if (batch.length > 0 && size + length > together) {
      yield batch
      batch = []
      size = 0
    }
    batch.push(index)
    size += length + boundary.length
  }
  if (batch.length > 0) yield batch
}

const lintTogether = async (
  lint: Lint,
  texts: readonly string[],
  batch: readonly number[],
  found: Secret[][],
): Promise<void> => {
  const joined = batch.map((index) => texts[index] ?? '').join(boundary)
  const secrets = [...(await lint(joined))].sort((a, b) => a.start - b.start)
  let next = 0
  let from = 0
  for (const index of batch) {
    const to = from + (texts[index] ?? '').length
    for (; next < secrets.length && (secrets[next]?.start ?? 0) < to; next++) {
      const secret = secrets[next] as Secret
      found[index]?.push({ ...secret, start: secret.start - from, end: Math.min(secret.end, to) - from })
    }
    from = to + boundary.length
  }
}
