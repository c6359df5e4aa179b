import { createRequire } from 'node:module'
import type { QueryResult, Database as Sqlite } from 'node-sqlite3-wasm'
import type { LogStamp } from '../../events/log.js'
import { type IndexQuery, matchOfTerms } from './trigrams.js'

/** What the index knows of one log: which file, and how far it was read. */
export interface IndexedLog {
  readonly n: number
  readonly stamp: LogStamp
  /** Where the last line that was read begins, and its id. */
  readonly from: number
  readonly tail: string
}

/** An event that may hold what is asked: where its line begins, and its time (ms). */
export interface Candidate {
  readonly n: number
  readonly at: number
  readonly offset: number
}

export interface IndexedDoc {
  readonly at: number
  readonly role: string | null
  readonly offset: number
  /** As `indexable` makes it; null where it is too long to hold: then it is a candidate for every query. */
  readonly text: string | null
}

/**
 * `words` holds no text (`content=''`) and no places of words (`detail=none`): for each three code points the events that
 * hold them. `state` says what the rows of `log` come to, by place, while none changed since. The text is folded before it comes here, so that the tokenizer folds nothing.
 */
const schema = `
  pragma page_size = 16384;
  create table log(
    n integer primary key, name text not null unique, identity text not null, bytes integer not null,
    modified text not null, start integer not null, tail text not null
  );
  create table state(place text primary key, digest text not null);
  create table doc(
    id integer primary key, log integer not null, at integer not null, role text, start integer not null,
    large integer not null
  );
  create index doc_log on doc(log);
  create index doc_large on doc(large) where large = 1;
  create virtual table words using fts5(
    text, tokenize='trigram case_sensitive 1', content='', contentless_delete=1, detail=none
  );
  create virtual table terms using fts5vocab('words', 'row');
  insert into words(words, rank) values('hashsize', 16777216);
`

const oneString = "group_concat(log || ' ' || at || ' ' || start, char(10)) as lines"

/** The first trigrams after those that begin with a text: no code point is higher. */
const afterAll = '\u{10ffff}\u{10ffff}\u{10ffff}'

/** The index's SQLite file, opened by one process at a time. Everything throws SQLite's errors. */
export class IndexDatabase {
  readonly #db: Sqlite

  /** The file must exist; an empty one is made an index. */
  constructor(path: string, isNew: boolean) {
    const { Database } = createRequire(import.meta.url)(
      'node-sqlite3-wasm',
    ) as typeof import('node-sqlite3-wasm')
    this.#db = new Database(path, { fileMustExist: true })
    // A file that a crash left half-written is thrown away whole: nothing need be journalled on disk.
    this.#db.exec(
      'pragma locking_mode = exclusive; pragma journal_mode = memory; pragma synchronous = off; pragma cache_size = -32000; pragma secure_delete = on',
    )
    if (isNew) this.#db.exec(schema)
  }

  logs(): ReadonlyMap<string, IndexedLog> {
    const lines = this.#lines(
      "select group_concat(n || ' ' || name || ' ' || identity || ' ' || bytes || ' ' || modified || ' ' || start || ' ' || tail, char(10)) as lines from log",
    )
    return new Map(
      lines.map(([n, name, identity, bytes, modified, start, tail]) => [
        name as string,
        {
          n: Number(n),
          stamp: { identity: identity as string, bytes: Number(bytes), modified: Number(modified) },
          from: Number(start),
          tail: tail as string,
        },
      ]),
    )
  }

  /** What `setDigests` was told, where no log changed since; else nothing. */
  digests(): ReadonlyMap<string, string> {
    const rows = this.#rows('select place, digest from state')
    return new Map(rows.map(({ place, digest }) => [String(place), String(digest)]))
  }

  setDigests(digests: ReadonlyMap<string, string>): void {
    this.#db.exec('delete from state')
    for (const [place, digest] of digests) this.#db.run('insert into state values(?, ?)', [place, digest])
  }

  /** The names of logs, by their numbers. */
  namesOf(numbers: Iterable<number>): ReadonlyMap<number, string> {
    const list = [...numbers].join(',')
    const lines = this.#lines(
      `select group_concat(n || ' ' || name, char(10)) as lines from log where n in (${list})`,
    )
    return new Map(lines.map(([n, name]) => [Number(n), name as string]))
  }

  /** Says how far a log was read; gives its number. */
  setLog(name: string, { stamp, from, tail }: Omit<IndexedLog, 'n'>): number {
    this.#db.exec('delete from state')
    const { identity, bytes, modified } = stamp
    const [row] = this.#rows(
      `insert into log(name, identity, bytes, modified, start, tail) values(?, ?, ?, ?, ?, ?)
       on conflict(name) do update set identity = excluded.identity, bytes = excluded.bytes,
         modified = excluded.modified, start = excluded.start, tail = excluded.tail
       returning n`,
      [name, identity, bytes, String(modified), from, tail],
    )
    return Number(row?.n)
  }

  addDocs(n: number, docs: readonly IndexedDoc[]): void {
    const doc = this.#db.prepare('insert into doc(log, at, role, start, large) values(?, ?, ?, ?, ?)')
    const words = this.#db.prepare('insert into words(rowid, text) values(?, ?)')
    try {
      for (const { at, role, offset, text } of docs) {
        const { lastInsertRowid } = doc.run([n, at, role, offset, text === null ? 1 : 0])
        if (text !== null) words.run([lastInsertRowid, text])
      }
    } finally {
      doc.finalize()
      words.finalize()
    }
  }

  /** Takes a log's events out; the index then knows nothing of it. */
  removeLog(n: number): void {
    this.#db.exec('delete from state')
    this.#db.run('delete from words where rowid in (select id from doc where log = ? and large = 0)', [n])
    this.#db.run('delete from doc where log = ?', [n])
    this.#db.run('delete from log where n = ?', [n])
  }

  /** Writes what is left of the index anew, so that nothing of what was removed stands in the file. */
  wipe(): void {
    this.#db.exec("insert into words(words) values('optimize'); vacuum")
  }

  /** All of the work is written, or none. */
  async within(work: () => Promise<void>): Promise<void> {
    this.#db.exec('begin')
    try {
      await work()
      this.#db.exec('commit')
    } catch (error) {
      this.#db.exec('rollback')
      throw error
    }
  }

  /** Every event that may hold the query, in no order; null where reading the logs is no slower. */
  candidates(query: IndexQuery, role: string | null): readonly Candidate[] | null {
    const match = query.kind === 'match' ? query.match : this.#matchOf(query.prefix)
    if (match === null) return null
    const ofRole = role === null ? '' : 'and role = ?'
    const values = role === null ? [] : [role]
    const found =
      match === ''
        ? []
        : this.#lines(
            `select ${oneString} from words join doc on doc.id = words.rowid where words match ? ${ofRole}`,
            [match, ...values],
          )
    const large = this.#lines(`select ${oneString} from doc where large = 1 ${ofRole}`, values)
    return [...found, ...large].map(([n, at, offset]) => ({
      n: Number(n),
      at: Number(at),
      offset: Number(offset),
    }))
  }

  #matchOf(prefix: string): string | null {
    const terms = this.#rows('select term from terms where term >= ? and term <= ? limit 401', [
      prefix,
      prefix + afterAll,
    ])
    return matchOfTerms(terms.map(({ term }) => String(term)))
  }

  close(): void {
    this.#db.close()
  }

  /** Many rows as the lines of one string, split at blanks: each row by itself would cost a dozen calls into WebAssembly. */
  #lines(sql: string, values: (string | number | null)[] = []): readonly (readonly string[])[] {
    const [row] = this.#rows(sql, values)
    const lines = row?.lines
    return typeof lines === 'string' ? lines.split('\n').map((line) => line.split(' ')) : []
  }

  #rows(sql: string, values: (string | number | null)[] = []): readonly QueryResult[] {
    return this.#db.all(sql, values)
  }
}
