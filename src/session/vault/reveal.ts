/** A value of JSON with each of its strings as `reveal` gives it; names stay. */
export const revealed = <Value>(value: Value, reveal: (text: string) => string): Value => {
  const inner = (item: unknown): unknown => {
    if (typeof item === 'string') return reveal(item)
    if (Array.isArray(item)) return item.map(inner)
    if (typeof item !== 'object' || item === null) return item
    return Object.fromEntries(Object.entries(item).map(([name, member]) => [name, inner(member)]))
  }
  return inner(value) as Value
}
