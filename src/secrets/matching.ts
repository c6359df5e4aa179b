import { carriedIn } from './carried.js'
import { namedIn } from './named.js'
import type { Secret } from './secret.js'
import { privateKeysIn, tokensIn } from './tokens.js'

/** No secret is shorter; most texts of a log that are this short are words. */
export const shortest = 8

/** The secrets of a text by the shapes that logs of agents hold. Pure; in order, none overlapping another. */
export const matchSecrets = (text: string): readonly Secret[] =>
  text.length < shortest
    ? []
    : apart([...privateKeysIn(text), ...tokensIn(text), ...carriedIn(text), ...namedIn(text)])

/** In order of place, overlapping ones joined; a joined one has the kind that was given first. */
export const apart = (found: readonly Secret[]): readonly Secret[] => {
  const inOrder = found
    .map((secret, rank) => ({ secret, rank }))
    .sort((a, b) => a.secret.start - b.secret.start || a.rank - b.rank)
  const joined: { start: number; end: number; kind: string; rank: number }[] = []
  for (const { secret, rank } of inOrder) {
    const last = joined.at(-1)
    if (last === undefined || secret.start >= last.end) joined.push({ ...secret, rank })
    else {
      if (rank < last.rank) Object.assign(last, { kind: secret.kind, rank })
      last.end = Math.max(last.end, secret.end)
    }
  }
  return joined.map(({ start, end, kind }) => ({ start, end, kind }))
}

/** The text with each of its secrets replaced by what `replacement` says. */
export const replaceSecrets = (
  text: string,
  secrets: readonly Secret[],
  replacement: (secret: Secret) => string,
): string => {
  let at = 0
  let replaced = ''
  for (const secret of secrets) {
    replaced += text.slice(at, secret.start) + replacement(secret)
    at = secret.end
  }
  return replaced + text.slice(at)
}
