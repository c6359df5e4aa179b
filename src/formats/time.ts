/** Where nothing names a time. */
export const epoch = '1970-01-01T00:00:00.000Z'

/** ISO 8601 in UTC with milliseconds from what a source gives (text, or ms since 1970); null where it is no time. */
export const normalTime = (value: unknown): string | null => {
  if (
    typeof value !== 'number' &&
    !(typeof value === 'string' && /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}/.test(value))
  )
    return null
  // Finer than milliseconds, and a leap second, are cut: Date knows neither.
  const text = typeof value === 'string' ? value.replace(/(\.\d{3})\d+/, '$1') : value
  const date = new Date(withZone(text))
  const year = date.getUTCFullYear()
  return Number.isNaN(date.getTime()) || year < 0 || year > 9999 ? null : date.toISOString()
}

/** A time without a zone is UTC, whatever the zone of the machine that reads it. */
const withZone = (text: string | number): string | number =>
  typeof text === 'string' && !/(Z|[+-]\d{2}:?\d{2})$/i.test(text) ? `${text}Z` : text
