/** The index of a pack, version 2, as git or we wrote it. `oids` are in order; offsets are in bytes. */
export class PackIndex {
  readonly count: number
  readonly #bytes: Buffer

  constructor(bytes: Uint8Array) {
    this.#bytes = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
    if (this.#bytes.length < 1072 || this.#bytes.readUInt32BE(0) !== 0xff744f63)
      throw new Error('not a pack index of version 2')
    this.count = this.#bytes.readUInt32BE(8 + 1020)
  }

  oid(i: number): string {
    const at = 1032 + 20 * i
    return this.#bytes.toString('hex', at, at + 20)
  }

  offset(i: number): number {
    const narrow = this.#bytes.readUInt32BE(1032 + 24 * this.count + 4 * i)
    if (narrow < 2 ** 31) return narrow
    // The offset is in the table of wide ones, at that place of it.
    return Number(this.#bytes.readBigUInt64BE(1032 + 28 * this.count + 8 * (narrow - 2 ** 31)))
  }

  /** Where the object of these 20 bytes begins in the pack; null where it is not in it. */
  find(wanted: Buffer): number | null {
    const first = wanted[0] ?? 0
    let low = first === 0 ? 0 : this.#bytes.readUInt32BE(8 + 4 * (first - 1))
    let high = this.#bytes.readUInt32BE(8 + 4 * first)
    if (low === high) return null
    const head = wanted.readUInt32BE(0)
    while (low < high) {
      const middle = (low + high) >>> 1
      const at = 1032 + 20 * middle
      // Most are told apart by their first bytes.
      const order = this.#bytes.readUInt32BE(at) - head || this.#bytes.compare(wanted, 0, 20, at, at + 20)
      if (order === 0) return this.offset(middle)
      if (order < 0) low = middle + 1
      else high = middle
    }
    return null
  }
}
