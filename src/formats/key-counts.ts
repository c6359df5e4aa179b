/** How full the table may get. */
const fullest = 0.75

/**
 * How often each key came, twelve bytes a key however long it is. Keys are told apart by 53 bits of hash: a stranger with
 * the same ones, which a million keys have once in ten thousand sources, counts as the same key.
 */
export class KeyCounts {
  #hashes = new Float64Array(256)
  #counts = new Uint32Array(256)
  #held = 0

  /** Counts the key once more; how often it came, this time included. */
  add(key: string): number {
    if (this.#held > this.#hashes.length * fullest) this.#grow()
    const hash = hashOf(key)
    const at = this.#placeOf(hash)
    if (this.#counts[at] === 0) this.#held++
    this.#hashes[at] = hash
    this.#counts[at] = (this.#counts[at] ?? 0) + 1
    return this.#counts[at] ?? 1
  }

  #placeOf(hash: number): number {
    const last = this.#hashes.length - 1
    let at = (hash >>> 0) & last
    while (this.#counts[at] !== 0 && this.#hashes[at] !== hash) at = (at + 1) & last
    return at
  }

  #grow(): void {
    const [hashes, counts] = [this.#hashes, this.#counts]
    this.#hashes = new Float64Array(hashes.length * 2)
    this.#counts = new Uint32Array(hashes.length * 2)
    for (const [i, count] of counts.entries()) {
      const hash = hashes[i] ?? 0
      if (count === 0) continue
      const at = this.#placeOf(hash)
      this.#hashes[at] = hash
      this.#counts[at] = count
    }
  }
}

/** 53 bits of two multiplicative hashes. */
const hashOf = (key: string): number => {
  let a = 0x9e3779b1
  let b = 0x85ebca77
  for (let i = 0; i < key.length; i++) {
    const code = key.charCodeAt(i)
    a = Math.imul(a ^ code, 0x01000193)
    b = Math.imul(b ^ code, 0xc2b2ae35)
    b = (b << 13) | (b >>> 19)
  }
  a = Math.imul(a ^ (b >>> 15), 0x2c1b3c6d)
  b = Math.imul(b ^ (a >>> 13), 0x297a2d39)
  return ((a ^ (a >>> 16)) >>> 11) * 0x100000000 + (b >>> 0)
}
