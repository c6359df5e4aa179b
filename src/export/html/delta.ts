/** Shorter matches cost more to name than to write out. */
const least = 8
const candidates = 6

/**
 * A text as pieces of another one: `[skip, length, …]` copies, strings are inserted. A report holds the text of a message
 * once, rendered; what it takes to get the written one back is mostly a few asterisks.
 */
export type Delta = readonly (number | string)[]

/**
 * What a delta is against: the shown text, and its spelling within JSON, since arguments are JSON; of a diff both sides of
 * it as well.
 */
export const baseOf = (shown: string): string => {
  const lines = shown.split('\n')
  const isDiff = lines.some((line) => line.startsWith('-') || line.startsWith('+'))
  const side = (other: string): string =>
    lines.flatMap((line) => (line.startsWith(other) ? [] : [line.slice(1)])).join('\n')
  return [shown, spelled(shown), ...(isDiff ? [spelled(side('+')), spelled(side('-'))] : [])].join('\n')
}

const spelled = (text: string): string => JSON.stringify(text).slice(1, -1)

export const deltaOf = (base: string, text: string): Delta => {
  const places = placesIn(base)
  const delta: (number | string)[] = []
  let expected = 0
  let written = ''
  const flush = (): void => {
    if (written !== '') delta.push(written)
    written = ''
  }
  for (let at = 0; at < text.length; ) {
    const [start, length] = longest(base, text, at, expected, places.get(text.slice(at, at + least)) ?? [])
    if (length < least && !(length > 3 && start === expected)) {
      written += text[at]
      at++
      continue
    }
    flush()
    delta.push(start - expected, length)
    expected = start + length
    at += length
  }
  flush()
  return delta
}

const placesIn = (base: string): ReadonlyMap<string, readonly number[]> => {
  const places = new Map<string, number[]>()
  for (let at = 0; at + least <= base.length; at++) {
    const key = base.slice(at, at + least)
    const known = places.get(key)
    if (known === undefined) places.set(key, [at])
    else if (known.length < candidates) known.push(at)
  }
  return places
}

const longest = (
  base: string,
  text: string,
  at: number,
  expected: number,
  places: readonly number[],
): readonly [start: number, length: number] => {
  let best: readonly [number, number] = [expected, matching(base, expected, text, at)]
  for (const start of places) {
    const length = matching(base, start, text, at)
    if (length > best[1]) best = [start, length]
  }
  return best
}

const matching = (base: string, start: number, text: string, at: number): number => {
  let length = 0
  while (
    start + length < base.length &&
    at + length < text.length &&
    base[start + length] === text[at + length]
  )
    length++
  return length
}

/** The text that a delta stands for. */
export const textOfDelta = (base: string, delta: Delta): string => {
  let text = ''
  let expected = 0
  for (let i = 0; i < delta.length; i++) {
    const step = delta[i]
    if (typeof step === 'string') {
      text += step
      continue
    }
    const start = expected + (step as number)
    const length = delta[++i] as number
    text += base.slice(start, start + length)
    expected = start + length
  }
  return text
}
