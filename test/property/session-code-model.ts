import * as fs from 'node:fs'
import { dirname } from 'node:path'
import { expect } from 'vitest'
import { nodeWorkFs } from '../../src/checkpoints/node-work-fs.js'
import { oidOf } from '../../src/checkpoints/objects/git-format.js'
import { GitObjects } from '../../src/checkpoints/objects/git-objects.js'
import type { Event } from '../../src/events/event.js'
import { systemPorts } from '../../src/events/system.js'
import type { MoveResult, Session, Store } from '../../src/session/api.js'
import { begin, CodePlace } from '../session/code-place.js'
import { user } from '../session/stores.js'
import type { Command, Content } from './session-code-steps.js'

/** What a session knows at an event: of each path, as last recorded there; and as it was before it was first. '' is nothing. */
type Known = ReadonlyMap<string, { readonly last: string; readonly first: string }>
type Files = Readonly<Record<string, string>>
type Move = Extract<Command, { readonly do: 'undo' | 'redo' | 'checkout' }>

/** One session: its object, its events as its log has them, and what the model knows at them. */
interface Talk {
  session: Session
  store: Store
  readonly events: Map<string, Event>
  readonly known: Map<string, Known>
}

/** A workspace with two sessions, and beside each the map of path to what it holds that the log stands for. */
export class CodeModel {
  repository = ''
  /** Who wrote a path last. */
  readonly #writers = new Map<string, number | 'user'>()

  private constructor(
    readonly place: CodePlace,
    readonly talks: readonly Talk[],
  ) {}

  static async begin(): Promise<CodeModel> {
    const place = new CodePlace()
    const talks: Talk[] = []
    for (const _ of [0, 1]) {
      const store = await place.store()
      const session = await begin(place, store)
      talks.push({ session, store, events: new Map(), known: new Map([[session.id, new Map()]]) })
    }
    const model = new CodeModel(place, talks)
    const [first] = talks as [Talk]
    model.repository = await place.repositoryOf(first.store, first.session.id)
    for (const talk of talks) await model.#read(talk)
    return model
  }

  async run(command: Command): Promise<void> {
    if (command.do === 'user') {
      this.#put(command.path, command.content)
      this.#writers.set(command.path, 'user')
      return
    }
    const talk = this.talks[command.who] as Talk
    if (command.do === 'reopen') await this.#reopen(talk)
    else if (command.do === 'turn') await this.#turn(talk, command)
    else {
      await this.#move(talk, command)
      if (command.do === 'undo' && command.andRedo) await this.#move(talk, { ...command, do: 'redo' })
    }
  }

  async end(): Promise<void> {
    for (const { session, store } of this.talks) {
      const { problems, diverged } = await store.verify([session.id])
      expect(problems).toEqual([])
      expect(diverged).toEqual([])
      session.close()
      store.close()
    }
  }

  async #reopen(talk: Talk): Promise<void> {
    const { id, position } = talk.session
    talk.session.close()
    talk.store.close()
    talk.store = await this.place.store()
    talk.session = await talk.store.open(id)
    expect(talk.session.position).toBe(position)
  }

  async #turn(talk: Talk, { who, edits }: Extract<Command, { readonly do: 'turn' }>): Promise<void> {
    await this.#prompt(talk)
    for (const { path, content } of edits) await this.#tool(talk, who, path, content)
  }

  async #prompt(talk: Talk): Promise<void> {
    const known = this.#at(talk)
    const { position } = talk.session
    const [message] = (await talk.session.append(user('go on'))).slice(-1)
    await this.#read(talk)
    // The checkpoint, and the notice that may follow it: whoever goes to either finds the same files.
    const above = this.#path(talk, message?.parent ?? '')
    for (const { id } of above.slice(
      0,
      above.findIndex((event) => event.id === position),
    ))
      this.#learn(talk, id, known, [...known.keys()])
  }

  async #tool(talk: Talk, who: number, path: string, content: Content): Promise<void> {
    // A link is replaced here, never written through: what it leads to stays as it is. A path below one is another path.
    if (this.#kindAt(path) === 'link' || !this.#isReached(path)) return
    await this.#take(talk, path, (paths) => talk.session.beforeEdit(paths))
    this.#put(path, content)
    this.#writers.set(path, who)
    await this.#take(talk, path, (paths) => talk.session.afterEdit(paths))
  }

  async #take(talk: Talk, path: string, take: (paths: string[]) => Promise<{ failed: string | null }>) {
    const known = this.#at(talk)
    const below = (all: Iterable<string>) => [...all].filter((other) => other.startsWith(`${path}/`))
    const looked = [
      path,
      ...below(known.keys()),
      ...below(Object.keys(this.#files())),
      ...this.#blockers(path),
    ]
    expect((await take([path])).failed).toBeNull()
    await this.#read(talk)
    this.#learn(talk, talk.session.position, known, looked)
  }

  /** After a look at these paths (and what they crowd out), what the session knows at an event. */
  #learn(talk: Talk, at: string, before: Known, looked: readonly string[]): void {
    const files = this.#files()
    const known = new Map(before)
    const isUnder = (name: string, other: string) =>
      name.startsWith(`${other}/`) || other.startsWith(`${name}/`)
    // A name below one that was a file, or one that was a folder, can have been no file then.
    const isCrowded = (name: string) =>
      [...before].some(([other, { last }]) => last !== '' && isUnder(name, other))
    const note = (name: string): void => {
      const last = files[name] ?? ''
      known.set(name, { last, first: known.get(name)?.first ?? (isCrowded(name) ? '' : last) })
    }
    for (const name of looked) note(name)
    // A name is a file or a folder.
    for (const [name, { last }] of known)
      if (last !== '' && looked.some((other) => (files[other] ?? '') !== '' && isUnder(name, other)))
        note(name)
    talk.known.set(at, known)
  }

  async #read(talk: Talk): Promise<void> {
    const reader = await talk.store.reader(talk.session.id)
    for (const event of await reader.events()) talk.events.set(event.id, event)
  }

  /** Nearest first. */
  #path(talk: Talk, from: string): readonly Event[] {
    const path: Event[] = []
    for (let at: string | null = from; at !== null; ) {
      const event = talk.events.get(at) as Event
      path.push(event)
      at = event.parent
    }
    return path
  }

  #at(talk: Talk, at: string = talk.session.position): Known {
    for (const { id } of this.#path(talk, at)) {
      const known = talk.known.get(id)
      if (known !== undefined) return known
    }
    throw new Error('a branch without a root')
  }

  /** Where a move goes, and whether it takes the code along; null where there is nothing to move to. */
  #aim(
    talk: Talk,
    command: Move,
  ): { readonly to: string; readonly code: boolean; readonly target: string } | null {
    const path = this.#path(talk, talk.session.position)
    if (command.do === 'checkout') {
      const nodes = [...talk.events.values()].filter(({ note }) => note !== true)
      const { id } = nodes[command.nth % nodes.length] as Event
      return { to: id, target: id, code: command.what !== 'conversation' }
    }
    if (command.do === 'undo') {
      const prompts = path.filter(({ type, role }) => type === 'message' && role === 'user')
      const prompt = prompts[command.nth % Math.max(1, prompts.length)]
      if (prompt === undefined) return null
      return { to: prompt.parent as string, target: prompt.id, code: command.what !== 'conversation' }
    }
    const neutral = new Set(['checkpoint', 'restore'])
    const undo = path.find(({ type, reason }) => !neutral.has(type) && reason !== 'redo')
    if (undo?.type !== 'head' || undo.reason !== 'undo') return null
    return { to: undo.from as string, target: '', code: undo.restore !== undefined }
  }

  async #move(talk: Talk, command: Move): Promise<void> {
    const aim = this.#aim(talk, command)
    const { session } = talk
    const before = this.#files()
    const from = session.position
    const [current, target] = [this.#at(talk), aim === null ? new Map() : this.#at(talk, aim.to)]
    const count = talk.events.size
    const moved = await this.#asked(session, command, aim?.target ?? '').catch((error: Error) => error)
    await this.#read(talk)
    const after = this.#files()
    if (moved instanceof Error) {
      // Nothing has moved, neither files nor head.
      expect((moved as { tag?: string }).tag).toMatch(/^(RestoreConflict|Refused)$/)
      const isRefused = (moved as { tag?: string }).tag === 'Refused'
      const hasCode = current.size + target.size > 0
      if (isRefused)
        expect(aim === null || (!hasCode && command.do !== 'redo' && command.what === 'code')).toBe(true)
      expect([after, session.position, talk.events.size]).toEqual([before, from, count])
      return
    }
    const goesCode = aim?.code === true && current.size + target.size > 0
    if (!goesCode) return expect(after).toEqual(before)
    await this.#mustFit(command, { moved, before, after, current, target })
    this.#record(talk, { from, before, after, current, target })
  }

  #asked(session: Session, command: Move, target: string): Promise<MoveResult> {
    const { onConflict } = command
    if (command.do === 'redo') return session.redo({ onConflict })
    const options = { what: command.what, onConflict }
    return command.do === 'undo' ? session.undo(target, options) : session.checkout(target, options)
  }

  /** Tracked files are as the model says, or kept, and then it is said why; all others are as they were. */
  async #mustFit(
    { who: me, onConflict }: Move,
    { moved, before, after, current, target }: Seen & { readonly moved: MoveResult },
  ): Promise<void> {
    const wanted = new Map([...current].map(([name, { first }]) => [name, first]))
    for (const [name, { last }] of target) wanted.set(name, last)
    const entries = new Map(moved.files.map((entry) => [entry.path.slice('workspace/'.length), entry]))
    for (const name of new Set([...Object.keys(before), ...Object.keys(after), ...wanted.keys()])) {
      const [was = '', is = ''] = [before[name], after[name]]
      if (!wanted.has(name)) expect(is, `${name} is not tracked`).toBe(was)
      else if (is !== wanted.get(name)) {
        expect(is, `${name} is neither old nor new`).toBe(was)
        expect(entries.get(name)?.why, `${name} was kept`).not.toBeNull()
        expect(onConflict === 'force' && entries.get(name)?.forcible === true).toBe(false)
      }
      if (is === was) continue
      await this.#mustBeKept(was)
      // What the other one removed may come back: that takes nothing from it.
      const isTheirs = this.#writers.get(name) === 1 - me && was !== '' && current.get(name)?.last !== was
      expect(isTheirs && onConflict !== 'force', `${name} is the other session's`).toBe(false)
      this.#writers.set(name, me)
    }
  }

  /** What is known after a move, and at the safety checkpoint that it left behind. */
  #record(talk: Talk, { from, before, after, current, target }: Seen & { readonly from: string }): void {
    const [event, above] = this.#path(talk, talk.session.position) as [Event, Event | undefined]
    const left = event.type === 'head' ? talk.events.get(event.from as string) : above
    const safe = left === undefined || left.id === from ? current : recorded(current, left.files, before)
    if (left !== undefined) talk.known.set(left.id, safe)
    const restore = (event.type === 'head' ? event.restore : event) as { readonly files: unknown }
    talk.known.set(event.id, recorded(event.type === 'head' ? target : safe, restore.files, after))
  }

  /** INV-9: what was replaced or removed is in a checkpoint. */
  async #mustBeKept(was: string): Promise<void> {
    if (was === '') return
    const text = was.startsWith('-> ') ? was.slice(3) : was.slice(was.indexOf(' ') + 1)
    const bytes = Buffer.from(text, 'latin1')
    const { fs: files, random } = systemPorts
    const store = new GitObjects(files, random, this.repository, dirname(this.repository))
    expect((await store.read(oidOf('blob', bytes))).bytes.equals(bytes)).toBe(true)
  }

  /** The files of the workspace, without folders. */
  #files(): Files {
    return Object.fromEntries(Object.entries(this.place.tree()).filter(([name]) => !name.endsWith('/')))
  }

  #kindAt(name: string) {
    return nodeWorkFs.lstat(this.place.path(name))?.kind ?? null
  }

  /** The file that stands where a folder above a path should be. */
  #blockers(name: string): readonly string[] {
    for (let above = dirname(name); above !== '.'; above = dirname(above))
      if (this.#kindAt(above) === 'file') return [above]
    return []
  }

  #isReached(name: string): boolean {
    for (let above = dirname(name); above !== '.'; above = dirname(above))
      if (this.#kindAt(above) === 'link') return false
    return true
  }

  /** Makes a path what it should be, whatever stands there or above it. */
  #put(name: string, wanted: Content): void {
    const { place } = this
    if (wanted === null) {
      if (this.#kindAt(name) !== null) place.remove(name)
      return
    }
    for (let above = dirname(name); above !== '.'; above = dirname(above))
      if (this.#kindAt(above) !== 'folder' && this.#kindAt(above) !== null) place.remove(above)
    place.remove(name)
    fs.mkdirSync(dirname(place.path(name)), { recursive: true })
    if ('link' in wanted) fs.symlinkSync(wanted.link, place.path(name))
    else place.write(name, wanted.text, wanted.mode)
  }
}

interface Seen {
  readonly before: Files
  readonly after: Files
  readonly current: Known
  readonly target: Known
}

/** What is known at an event that recorded some files, from what was known before it and what was on disk then. */
const recorded = (before: Known, records: unknown, files: Files): Known => {
  const known = new Map(before)
  for (const { path, kind } of records as readonly { readonly path: string; readonly kind?: string }[]) {
    const name = path.slice('workspace/'.length)
    const last = files[name] ?? ''
    if (kind !== undefined) known.set(name, { last, first: known.get(name)?.first ?? last })
  }
  return known
}
