/** Git's delta: what to copy out of a base and what to insert, in the order of the result. */

const readSize = (delta: Buffer, from: number): readonly [size: number, next: number] => {
  let size = 0
  let at = from
  for (let factor = 1; ; factor *= 128) {
    const byte = delta[at++] as number
    size += (byte & 0x7f) * factor
    if (byte < 0x80) return [size, at]
  }
}

/** Up to `count` bytes of a number, lowest first, those whose bit is set in `flags`. */
const readParts = (delta: Buffer, from: number, flags: number, count: number): readonly [number, number] => {
  let value = 0
  let at = from
  for (let i = 0; i < count; i++) if (flags & (1 << i)) value += (delta[at++] as number) * 256 ** i
  return [value, at]
}

export const applyDelta = (base: Buffer, delta: Buffer): Buffer => {
  const [baseSize, afterBase] = readSize(delta, 0)
  const [size, start] = readSize(delta, afterBase)
  if (baseSize !== base.length) throw new Error('a delta does not fit its base')
  const result = Buffer.alloc(size)
  let written = 0
  for (let at = start; at < delta.length; ) {
    const op = delta[at++] as number
    if (op & 0x80) {
      const [offset, afterOffset] = readParts(delta, at, op, 4)
      const [length, next] = readParts(delta, afterOffset, op >> 4, 3)
      const count = length === 0 ? 0x10000 : length
      base.copy(result, written, offset, offset + count)
      written += count
      at = next
    } else {
      delta.copy(result, written, at, at + op)
      written += op
      at += op
    }
  }
  return result
}

const block = 16
const maxCopy = 0xffff
const maxInsert = 0x7f

const sizeBytes = (size: number): number[] => {
  const bytes: number[] = []
  let rest = size
  do {
    bytes.push((rest % 128) | (rest >= 128 ? 0x80 : 0))
    rest = Math.floor(rest / 128)
  } while (rest > 0)
  return bytes
}

const copyOp = (offset: number, length: number): number[] => {
  const op = [0x80]
  for (let i = 0; i < 4; i++) {
    const byte = Math.floor(offset / 256 ** i) % 256
    if (byte === 0) continue
    op[0] = (op[0] as number) | (1 << i)
    op.push(byte)
  }
  for (let i = 0; i < 2; i++) {
    const byte = (length >> (8 * i)) & 0xff
    if (byte === 0) continue
    op[0] = (op[0] as number) | (0x10 << i)
    op.push(byte)
  }
  return op
}

/**
 * What changes `base` into `target`: stretches of 16 bytes or more that both hold are copied. null where the delta would
 * not be under half of the target.
 */
export const makeDelta = (base: Buffer, target: Buffer): Buffer | null => {
  const places = new Map<string, number>()
  for (let at = 0; at + block <= base.length; at += block) {
    const key = base.toString('latin1', at, at + block)
    if (!places.has(key)) places.set(key, at)
  }
  const parts: Buffer[] = [Buffer.from([...sizeBytes(base.length), ...sizeBytes(target.length)])]
  let size = 0
  let pending = 0
  const flush = (end: number): void => {
    for (let from = pending; from < end; from += maxInsert) {
      const piece = target.subarray(from, Math.min(from + maxInsert, end))
      parts.push(Buffer.from([piece.length]), piece)
      size += piece.length + 1
    }
  }
  const limit = target.length / 2
  for (let at = 0; at < target.length && size < limit; ) {
    const found =
      at + block <= target.length ? places.get(target.toString('latin1', at, at + block)) : undefined
    if (found === undefined) {
      at++
      continue
    }
    let from = found
    let start = at
    while (from > 0 && start > pending && base[from - 1] === target[start - 1]) {
      from--
      start--
    }
    let length = at - start + block
    while (
      from + length < base.length &&
      start + length < target.length &&
      base[from + length] === target[start + length]
    )
      length++
    flush(start)
    for (let done = 0; done < length; done += maxCopy) {
      const op = copyOp(from + done, Math.min(maxCopy, length - done))
      parts.push(Buffer.from(op))
      size += op.length
    }
    at = start + length
    pending = at
  }
  flush(target.length)
  return size < limit ? Buffer.concat(parts) : null
}
