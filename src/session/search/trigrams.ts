/** Stands for what the index cannot hold, and after each text, so that its last code points begin trigrams too. */
const filler = '\ufffd'
/** NUL, and the two noncharacters that SQLite itself reads as the filler. */
const foreign = /[\0\ufffe\uffff]/g
const halfPair = /[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g

/** A folded text as the index takes it: one code point for each of its own. */
export const indexable = (folded: string): string => `${held(folded)}${filler}${filler}`

const held = (folded: string): string => folded.replace(foreign, filler).replace(halfPair, filler)

/** How many trigrams of a long query are asked for; the text itself is compared afterwards. */
const most = 12
/** How many trigrams may begin as a short query does before reading the logs is no slower. */
const mostTerms = 400

/** What the index is asked of a folded query: events that hold it are among those that match. */
export type IndexQuery =
  | { readonly kind: 'match'; readonly match: string }
  /** Too short for a trigram: those that begin so are to be looked up first. */
  | { readonly kind: 'prefix'; readonly prefix: string }

/** Null where the index cannot answer: half of a pair is found inside of whole ones by a comparison, never by the index. */
export const indexQueryOf = (folded: string): IndexQuery | null => {
  if (folded === '' || folded.search(halfPair) >= 0) return null
  const points = [...held(folded)]
  if (points.length < 3) return { kind: 'prefix', prefix: points.join('') }
  const trigrams = [...new Set(points.slice(2).map((_, at) => points.slice(at, at + 3).join('')))]
  return { kind: 'match', match: spread(trigrams).map(quoted).join(' AND ') }
}

/** Some of a list from its first to its last, at even steps. */
const spread = (list: readonly string[]): readonly string[] =>
  list.length <= most
    ? list
    : Array.from(
        { length: most },
        (_, at) => list[Math.round((at * (list.length - 1)) / (most - 1))] as string,
      )

/** The trigrams, of which an event that holds the short query holds one; null for too many to ask. */
export const matchOfTerms = (terms: readonly string[]): string | null =>
  terms.length > mostTerms ? null : terms.map(quoted).join(' OR ')

const quoted = (term: string): string => `"${term.replaceAll('"', '""')}"`
