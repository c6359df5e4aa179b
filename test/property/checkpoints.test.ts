import * as fs from 'node:fs'
import { dirname, join } from 'node:path'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { RestoreConflict } from '../../src/checkpoints/errors/restore-conflict.js'
import { nodeWorkFs } from '../../src/checkpoints/node-work-fs.js'
import { oidOf } from '../../src/checkpoints/objects/git-format.js'
import { GitObjects } from '../../src/checkpoints/objects/git-objects.js'
import type { Choice, Plan } from '../../src/checkpoints/plan-entry.js'
import { systemPorts } from '../../src/events/system.js'
import { Desk, git, hasGit, Talk } from '../checkpoints/desk.js'
import { Faults, faultyFs, faultyWork } from '../checkpoints/faults.js'

const runs = Number(process.env.FC_RUNS ?? 1) * 60

/** A file as the model knows it; null: nothing there. */
type Content = { readonly text: string; readonly mode: number } | { readonly link: string } | null

const paths = ['a', 'b', 'd', 'd/x', 'd/y', 'd/x/z', 'e/f']
const path = fc.constantFrom(...paths)
const content: fc.Arbitrary<Content> = fc.oneof(
  fc.record({
    text: fc.constantFrom('', 'one\n', 'two\r\n', 'three', '\0four'),
    mode: fc.constantFrom(0o644, 0o755, 0o600),
  }),
  fc.record({ link: fc.constantFrom('a', '/nowhere') }),
  fc.constant(null),
)
const who = fc.constantFrom(0, 1)
const word = fc.constantFrom('none', 'force', 'keep')
const command = fc.oneof(
  { weight: 5, arbitrary: fc.record({ do: fc.constant('tool' as const), who, path, content }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('user' as const), path, content }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('prompt' as const), who }) },
  {
    weight: 4,
    arbitrary: fc.record({ do: fc.constant('go' as const), who, to: fc.nat(), word, andBack: fc.boolean() }),
  },
)
type Command = typeof command extends fc.Arbitrary<infer T> ? T : never

const kindAt = (desk: Desk, name: string) => nodeWorkFs.lstat(desk.path(name))?.kind ?? null

/** Makes a path what it should be, whatever stands there or above it. */
const put = (desk: Desk, name: string, wanted: Content): void => {
  const absolute = desk.path(name)
  if (wanted === null) {
    if (kindAt(desk, name) !== null) desk.remove(name)
    return
  }
  for (let above = dirname(name); above !== '.'; above = dirname(above))
    if (kindAt(desk, above) !== 'folder' && kindAt(desk, above) !== null) desk.remove(above)
  desk.remove(name)
  fs.mkdirSync(dirname(absolute), { recursive: true })
  if ('link' in wanted) fs.symlinkSync(wanted.link, absolute)
  else desk.write(name, wanted.text, wanted.mode)
}

/** The files of the workspace, without folders. */
const filesOf = (desk: Desk): Record<string, string> =>
  Object.fromEntries(Object.entries(desk.tree()).filter(([name]) => !name.endsWith('/')))

/** What a session knows at an event: of each path, as last recorded there; and as it was before it was first. '' is nothing. */
type Known = ReadonlyMap<string, { readonly last: string; readonly first: string }>

const isBeside = (name: string, other: string): boolean =>
  name.startsWith(`${other}/`) || other.startsWith(`${name}/`)

/** A name below one that was a file, or one that was a folder, can have been no file then. */
const isCrowded = (name: string, known: Known): boolean =>
  [...known].some(([other, { last }]) => last !== '' && isBeside(name, other))

class Model {
  readonly desk: Desk
  readonly talks: readonly Talk[]
  readonly known = new Map<string, Known>()
  /** Who wrote a path last. */
  readonly writers = new Map<string, number | 'user'>()

  constructor() {
    const faults = new Faults()
    this.desk = new Desk({ fs: faultyFs(faults), work: faultyWork(faults) })
    this.talks = [new Talk(this.desk), new Talk(this.desk)]
    for (const talk of this.talks) this.known.set(talk.id, new Map())
  }

  /** After a checkpoint of these paths (and what they crowd out), what the session knows at its new head. */
  learn(talk: Talk, from: string, looked: readonly string[]): void {
    const files = filesOf(this.desk)
    const before = this.known.get(from) ?? new Map()
    const known = new Map(before)
    const note = (name: string): void => {
      const last = files[name] ?? ''
      known.set(name, { last, first: known.get(name)?.first ?? (isCrowded(name, before) ? '' : last) })
    }
    for (const name of looked) note(name)
    // A name is a file or a folder.
    for (const [name, { last }] of known) {
      const isGone = looked.some((other) => (files[other] ?? '') !== '' && isBeside(name, other))
      if (last !== '' && isGone) note(name)
    }
    this.known.set(talk.head, known)
  }

  at(talk: Talk, to = talk.head): Known {
    for (let at: string | null = to; at !== null; at = talk.events.get(at)?.parent ?? null) {
      const known = this.known.get(at)
      if (known !== undefined) return known
    }
    throw new Error('a branch without a root')
  }

  async take(talk: Talk, reason: 'prompt' | 'before-tool' | 'after-tool', name?: string): Promise<void> {
    const from = talk.head
    const before = this.at(talk)
    // A folder stands for the files in it, there or tracked.
    const below = (all: Iterable<string>) => [...all].filter((other) => other.startsWith(`${name}/`))
    const looked =
      name === undefined
        ? [...before.keys()]
        : [
            name,
            ...below(before.keys()),
            ...below(Object.keys(filesOf(this.desk))),
            ...blockers(this.desk, name),
            ...linked(this.desk, name).filter((other) => before.has(other)),
          ]
    await talk.take(reason, name === undefined ? {} : { paths: [name] })
    this.known.set(from, before)
    this.learn(talk, from, looked)
  }
}

const isReached = (desk: Desk, name: string): boolean => {
  // A path below a symlink is another one.
  for (let above = dirname(name); above !== '.'; above = dirname(above))
    if (kindAt(desk, above) === 'link') return false
  return true
}

/** The file that stands where a folder above a path should be. */
const blockers = (desk: Desk, name: string): readonly string[] => {
  for (let above = dirname(name); above !== '.'; above = dirname(above))
    if (kindAt(desk, above) === 'file') return [above]
  return []
}

/** What a link leads to, where that is no folder and no other link. */
const linked = (desk: Desk, name: string): readonly string[] => {
  if (kindAt(desk, name) !== 'link') return []
  const target = join(dirname(name), fs.readlinkSync(desk.path(name)))
  return ['folder', 'link'].includes(kindAt(desk, target) ?? '') ? [] : [target]
}

const run = async (model: Model, command: Command): Promise<void> => {
  const { desk } = model
  if (command.do === 'user') {
    put(desk, command.path, command.content)
    model.writers.set(command.path, 'user')
    return
  }
  const talk = model.talks[command.who] as Talk
  if (command.do === 'prompt') {
    await model.take(talk, 'prompt')
    talk.append('message', { role: 'user', content: 'go on' })
  } else if (command.do === 'tool') {
    const isLink = kindAt(desk, command.path) === 'link'
    // A link is replaced here, never written through: what it leads to stays as it is.
    if (isLink || !isReached(desk, command.path)) return
    await model.take(talk, 'before-tool', command.path)
    put(desk, command.path, command.content)
    model.writers.set(command.path, command.who)
    await model.take(talk, 'after-tool', command.path)
  } else await go(model, talk, command)
}

const go = async (
  model: Model,
  talk: Talk,
  { who: me, to, word: said, andBack }: Extract<Command, { readonly do: 'go' }>,
): Promise<void> => {
  const { desk } = model
  const nodes = [...talk.events.keys()]
  const node = nodes[to % nodes.length] as string
  const choice: Choice = said === 'none' ? {} : { [said]: true }
  const before = filesOf(desk)
  const from = talk.head
  const current = model.at(talk)
  const target = model.at(talk, node)
  let plan: Plan
  try {
    plan = await talk.goTo(node, choice)
  } catch (error) {
    expect(error).toBeInstanceOf(RestoreConflict)
    // A conflict changes nothing, neither files nor head.
    expect(filesOf(desk)).toEqual(before)
    expect(talk.head).toBe(from)
    return
  }
  const after = filesOf(desk)
  const wanted = new Map([...current].map(([name, { first }]) => [name, first]))
  for (const [name, { last }] of target) wanted.set(name, last)
  const entries = new Map(plan.entries.map((entry) => [entry.path.slice('workspace/'.length), entry]))
  for (const name of new Set([...Object.keys(before), ...Object.keys(after), ...wanted.keys()])) {
    const [was = '', is = ''] = [before[name], after[name]]
    // Tracked files are as the model says, or kept, and then it is said why; all others are as they were.
    if (!wanted.has(name)) expect(is, `${name} is not tracked`).toBe(was)
    else if (is !== wanted.get(name)) {
      expect(is, `${name} is neither old nor new`).toBe(was)
      expect(entries.get(name)?.why, `${name} was kept`).not.toBeNull()
      expect(said === 'force' && entries.get(name)?.forcible === true).toBe(false)
    }
    if (is === was) continue
    await mustBeKept(model, was)
    // What the other one removed may come back: that takes nothing from it.
    const isTheirs = model.writers.get(name) === 1 - me && was !== '' && current.get(name)?.last !== was
    expect(isTheirs && said !== 'force', `${name} is the other session's`).toBe(false)
    model.writers.set(name, me)
  }
  const left = talk.events.get(talk.head)?.from as string
  model.known.set(left, recorded(talk, left, current, before))
  model.known.set(talk.head, recorded(talk, talk.head, target, after))
  if (!andBack) return
  const back = model.at(talk, left)
  await talk.goTo(left)
  expect(filesOf(desk), 'back again').toEqual(before)
  model.known.set(talk.head, recorded(talk, talk.head, back, before))
}

interface Recorded {
  readonly files: readonly { readonly path: string; readonly kind?: string }[]
}

/** What is known at an event that recorded some files, from what was known before it and what was on disk then. */
const recorded = (
  talk: Talk,
  event: string,
  before: Known,
  files: Readonly<Record<string, string>>,
): Known => {
  const known = new Map(before)
  const payload = talk.events.get(event) as unknown as Partial<Recorded> & { readonly restore?: Recorded }
  for (const { path: treePath, kind } of payload.restore?.files ?? payload.files ?? []) {
    const name = treePath.slice('workspace/'.length)
    const last = files[name] ?? ''
    if (kind !== undefined) known.set(name, { last, first: known.get(name)?.first ?? last })
  }
  return known
}

/** INV-9: what was replaced or removed is in a checkpoint that a session leads to. */
const mustBeKept = async ({ desk }: Model, was: string): Promise<void> => {
  if (was === '') return
  const bytes = Buffer.from(was.startsWith('-> ') ? was.slice(3) : was.slice(was.indexOf(' ') + 1), 'latin1')
  const store = new GitObjects(systemPorts.fs, systemPorts.random, desk.repository, desk.folder)
  expect((await store.read(oidOf('blob', bytes))).bytes.equals(bytes)).toBe(true)
}

test('tracked files are exactly as the model says after any restore, untracked ones as they were, and nothing that was replaced is lost', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(command, { minLength: 3, maxLength: 24 }), async (commands) => {
      const model = new Model()
      try {
        for (const next of commands) await run(model, next)
        if (hasGit && fs.existsSync(model.desk.repository)) {
          expect(model.desk.fsck()).toBe('')
          // Nothing that was ever in a checkpoint of a living session is beyond its branch.
          expect(git(model.desk.repository, 'fsck', '--unreachable', '--no-reflogs')).not.toContain('commit')
        }
      } finally {
        model.desk.clear()
      }
    }),
    { numRuns: runs },
  )
}, 1_200_000)
