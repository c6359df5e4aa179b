// @ts-check
/**
 * Splits a buffer at its newlines, and tells where each line begins and ends, the newline left out.
 * @param {Buffer} bytes
 * @param {(start: number, end: number) => void} take
 */
export function eachLine(bytes, take) {
  for (let start = 0, end = bytes.indexOf(10); end >= 0; start = end + 1, end = bytes.indexOf(10, start))
    take(start, end)
}
