import { createHash, hash } from 'node:crypto'

/** The three kinds of git object that a checkpoint is made of. */
export type ObjectKind = 'blob' | 'tree' | 'commit'

export interface GitObject {
  readonly kind: ObjectKind
  readonly bytes: Buffer
}

export const headerOf = (kind: ObjectKind, size: number): Buffer => Buffer.from(`${kind} ${size}\0`)

/** What git names an object by: SHA-1 over its kind, its size and its bytes. */
export const oidOf = (kind: ObjectKind, bytes: Uint8Array): string =>
  bytes.length > 65_536
    ? createHash('sha1').update(headerOf(kind, bytes.length)).update(bytes).digest('hex')
    : hash('sha1', Buffer.concat([headerOf(kind, bytes.length), bytes]), 'hex')

export const isOid = (text: string): boolean => /^[0-9a-f]{40}$/.test(text)

export type TreeMode = '40000' | '100644' | '100755' | '120000'

export interface TreeEntry {
  readonly mode: TreeMode
  readonly name: string
  readonly oid: string
}

/** Git sorts a tree by bytes, a folder as if its name ended in `/`. */
const sortKey = ({ mode, name }: TreeEntry): Buffer => Buffer.from(mode === '40000' ? `${name}/` : name)

export const encodeTree = (entries: readonly TreeEntry[]): Buffer => {
  const sorted = entries.map((entry) => ({ entry, key: sortKey(entry) }))
  sorted.sort((a, b) => Buffer.compare(a.key, b.key))
  return Buffer.concat(
    sorted.flatMap(({ entry }) => [
      Buffer.from(`${entry.mode} ${entry.name}\0`),
      Buffer.from(entry.oid, 'hex'),
    ]),
  )
}

export const decodeTree = (bytes: Buffer): TreeEntry[] => {
  const entries: TreeEntry[] = []
  for (let at = 0; at < bytes.length; ) {
    const space = bytes.indexOf(0x20, at)
    const end = bytes.indexOf(0, space)
    entries.push({
      mode: bytes.toString('latin1', at, space) as TreeMode,
      name: bytes.toString('utf8', space + 1, end),
      oid: bytes.toString('hex', end + 1, end + 21),
    })
    at = end + 21
  }
  return entries
}

export interface Commit {
  readonly tree: string
  readonly parents: readonly string[]
  /** Milliseconds since 1970; git keeps the second. */
  readonly at: number
  readonly message: string
}

/** Nobody's identity is asked for (docs/CHECKPOINTS.md): the tool signs. */
const author = 'Coppice <coppice@localhost>'

export const encodeCommit = ({ tree, parents, at, message }: Commit): Buffer => {
  const when = `${author} ${Math.max(0, Math.floor(at / 1000))} +0000`
  const lines = [
    `tree ${tree}`,
    ...parents.map((oid) => `parent ${oid}`),
    `author ${when}`,
    `committer ${when}`,
  ]
  return Buffer.from(`${lines.join('\n')}\n\n${message}\n`)
}

export const decodeCommit = (bytes: Buffer): Commit => {
  const text = bytes.toString()
  const split = text.indexOf('\n\n')
  const headers = text.slice(0, split).split('\n')
  const valuesOf = (name: string) =>
    headers.filter((line) => line.startsWith(`${name} `)).map((line) => line.slice(name.length + 1))
  const seconds = Number(/ (\d+) [+-]\d{4}$/.exec(valuesOf('committer')[0] ?? '')?.[1] ?? 0)
  return {
    tree: valuesOf('tree')[0] ?? '',
    parents: valuesOf('parent'),
    at: seconds * 1000,
    message: text.slice(split + 2).replace(/\n$/, ''),
  }
}
