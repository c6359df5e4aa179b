import { firstRecords } from './find.js'
import { isObject } from './remainder.js'

/** How many member names are told. */
const mostNames = 6

/** What the start of a file that no format claims looks like, in words. */
export const seenIn = (start: string): string => {
  if (start.trim() === '') return 'it is empty'
  if (start.startsWith('SQLite format 3')) return 'it is an SQLite database'
  const records = firstRecords(start)
  const first = records.find(isObject)
  if (first !== undefined) {
    const names = Object.keys(first).slice(0, mostNames)
    return `its JSON has the members ${names.join(', ') || '(none)'}`
  }
  if (records.length > 0) return 'its JSON holds no objects'
  if (/^\s*[{[]/.test(start)) return 'it begins as JSON, of no known shape'
  return start.includes('\0') || start.includes('\ufffd') ? 'it is no text' : 'it is text, no JSON'
}
