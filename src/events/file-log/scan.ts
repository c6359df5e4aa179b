import { createHash } from 'node:crypto'
import { type Line, proveLine } from '../line.js'
import type { FileHandle } from '../ports.js'
import { newline } from './constants.js'

/** A stretch of bytes up to and with a newline (or the end): a line that proved itself, or not (`line` null). */
export interface Segment {
  readonly line: Line | null
  readonly start: number
  /** One past its last byte, newline included. */
  readonly end: number
}

/** Segments of `bytes`, whose first byte stands at `offset` in the log. The last may have no newline. */
export const segmentsOf = (bytes: Buffer, offset: number): Segment[] => {
  const segments: Segment[] = []
  for (let at = 0; at < bytes.length; ) {
    const found = bytes.indexOf(newline, at)
    const stop = found < 0 ? bytes.length : found
    const line = proveLine(bytes.subarray(at, stop), offset + at)
    const end = found < 0 ? stop : stop + 1
    segments.push({ line: typeof line === 'string' ? null : line, start: offset + at, end: offset + end })
    at = end
  }
  return segments
}

/** Reads until `length` bytes or the file's end. */
export const readFully = (file: FileHandle, position: number, length: number): Buffer => {
  const bytes = Buffer.allocUnsafeSlow(length)
  let filled = 0
  while (filled < length) {
    const count = file.read(bytes, filled, length - filled, position + filled)
    if (count === 0) break
    filled += count
  }
  return filled === length ? bytes : bytes.subarray(0, filled)
}

/** Pieces of a stretch of the file, one after the other in the same memory. */
export function* piecesOf(file: FileHandle, start: number, end: number): Generator<Buffer> {
  const memory = Buffer.allocUnsafeSlow(Math.max(0, Math.min(pieceSize, end - start)))
  for (let at = start; at < end; ) {
    const count = file.read(memory, 0, Math.min(memory.length, end - at), at)
    if (count === 0) return
    yield memory.subarray(0, count)
    at += count
  }
}
const pieceSize = 256 * 1024

/** SHA-256 of a stretch of the file, however long, and of what comes after it. */
export const hashOf = (file: FileHandle, start: number, end: number, after?: Uint8Array): string => {
  const hash = createHash('sha256')
  for (const piece of piecesOf(file, start, end)) hash.update(piece)
  if (after !== undefined) hash.update(after)
  return hash.digest('hex')
}

const smallChunk = 4096

/**
 * Reads a file from `from` to its end in chunks, and gives the segments of each; a segment is never cut by a chunk.
 * A last stretch without newline comes as it stands.
 */
export function* scanForward(file: FileHandle, from: number, chunkSize: number): Generator<Segment[]> {
  const { size } = file.stat()
  let carry: Buffer = Buffer.alloc(0)
  let position = from
  for (;;) {
    // Small logs, of which there are many, ask for little memory; one that grows meanwhile is read in small steps.
    const wanted = Math.min(Math.max(chunkSize, carry.length), Math.max(size - position, smallChunk))
    const chunk = Buffer.allocUnsafeSlow(carry.length + wanted)
    carry.copy(chunk)
    const count = file.read(chunk, carry.length, chunk.length - carry.length, position)
    const bytes = chunk.subarray(0, carry.length + count)
    const start = position - carry.length
    position += count
    if (count === 0) {
      if (bytes.length > 0) yield segmentsOf(bytes, start)
      return
    }
    const whole = bytes.lastIndexOf(newline) + 1
    if (whole > 0) yield segmentsOf(bytes.subarray(0, whole), start)
    carry = bytes.subarray(whole)
  }
}

/** The log's first line where it is whole and not out of the ordinary long; else null. */
export const firstLine = (file: FileHandle): Line | null => {
  const bytes = readFully(file, 0, firstBytes)
  const stop = bytes.indexOf(newline)
  const line = proveLine(bytes.subarray(0, stop < 0 ? bytes.length : stop), 0)
  return typeof line === 'string' ? null : line
}
const firstBytes = 64 * 1024
