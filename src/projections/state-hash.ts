import { sha256 } from '../events/id.js'

/** Still to be written: a piece of JSON, or a value. */
type Pending = { readonly json: string } | { readonly value: unknown }

/**
 * JSON in one spelling: keys sorted by UTF-16 code unit, no spaces, members that JSON cannot hold left out. Keeps its
 * own stack, so that a deep value is no overflow.
 */
export const canonicalJson = (value: unknown): string => {
  const written: string[] = []
  const stack: Pending[] = [{ value }]
  for (let next = stack.pop(); next !== undefined; next = stack.pop()) {
    if ('json' in next) written.push(next.json)
    else if (typeof next.value === 'object' && next.value !== null)
      for (const piece of piecesOf(next.value).reverse()) stack.push(piece)
    else written.push(JSON.stringify(next.value) ?? 'null')
  }
  return written.join('')
}

const piecesOf = (value: object): Pending[] => {
  if (Array.isArray(value))
    return [
      { json: '[' },
      ...value.flatMap((item: unknown, at) =>
        at === 0 ? [{ value: item }] : [{ json: ',' }, { value: item }],
      ),
      { json: ']' },
    ]
  const members = Object.entries(value).filter(([, member]) => member !== undefined)
  members.sort(([a], [b]) => (a < b ? -1 : 1))
  return [
    { json: '{' },
    ...members.flatMap(([key, member], at) => [
      { json: `${at === 0 ? '' : ','}${JSON.stringify(key)}:` },
      { value: member },
    ]),
    { json: '}' },
  ]
}

/** SHA-256, hex, of what a projection shows: the same for the same log on every machine. */
export const stateHash = (value: unknown): string => sha256(canonicalJson(value))
