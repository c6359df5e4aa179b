// @ts-check
/** Code checkpoints, against stats of the same files, and against git doing the same. */
import { spawnSync } from 'node:child_process'
import { cpSync, existsSync, lstatSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { runCell } from '../cells.mjs'
import { stopwatch } from '../clock.mjs'
import { bundleEngine, CodeDesk, settledValue } from '../code-desk.mjs'
import { row } from '../table.mjs'
import { draft } from '../workload.mjs'

const module = './measures/checkpoints.mjs'
/** Tracked files, and how many of them a turn changes. */
const tracked = 1000
const changed = 3
/** Rounds that only warm up. */
const warmUp = 3
/** What a file must have rested before its stat says that it did not change (ms). */
const settleMs = 80

/** @typedef {import('../table.mjs').Pair} Pair */

/** @param {import('../run.mjs').Bench} bench */
export function rows({ fixtures, quick }) {
  bundleEngine()
  const args = { folder: fixtures.folder, rounds: quick ? 7 : 15, turns: quick ? 200 : 1000 }
  /** @param {string} name @param {object} [more] @returns {any} */
  const run = (name, more) => runCell({ module, name, args: { ...args, ...more } })
  const what = `checkpoint of a turn that changed ${changed} of ${tracked} tracked files`
  /** @type {{ ms: Pair, cpu: Pair, git: Pair }} */
  const turn = run('turn', { sync: true })
  /** @type {{ ms: Pair, cpu: Pair, git: Pair }} */
  const unsynced = run('turn', { sync: false })
  /** @type {{ ms: Pair, cpu: Pair }} */
  const seen = run('preview')
  const beyond = { compare: (/** @type {number} */ take, /** @type {number} */ stats) => take - stats }
  const byHand = 'git, a process for each file and step, to the checkpoint beyond the stats'
  return [
    row(`${what}, beyond a stat of each (a difference)`, 'ms', turn.ms, {
      goal: { is: '≤', value: 15 },
      cpu: turn.cpu,
      ...beyond,
    }),
    row(`${what}, without sync (a difference)`, 'ms', unsynced.ms, { cpu: unsynced.cpu, ...beyond }),
    row(byHand, 'ms', turn.git, { goal: { is: '≥', value: 10 } }),
    row(`${byHand}, without sync`, 'ms', unsynced.git),
    row(`preview of an undo of ${tracked} files, to a stat of each`, 'ms', seen.ms, {
      goal: { is: '≤', value: 3 },
      cpu: seen.cpu,
    }),
    ...(hasGit() ? gitRows(run, args.turns) : []),
  ]
}

const hasGit = () => spawnSync('git', ['--version']).status === 0

/** @param {(name: string, more?: object) => any} run @param {number} turns */
function gitRows(run, turns) {
  /** @type {{ ms: Pair, cpu: Pair | null }} */
  const commits = run('commits')
  /** @type {{ kB: Pair, alone: Pair }} */
  const packed = run('packed')
  return [
    row(`${turns} small checkpoints without sync, to one git fast-import of the same`, 'ms', commits.ms, {
      goal: { is: '≤', value: 2 },
      ...(commits.cpu === null ? {} : { cpu: commits.cpu }),
    }),
    row(`repository of ${turns} turns over 20 files after gc, to what git gc leaves`, 'kB', packed.kB, {
      goal: { is: '≤', value: 3 },
    }),
    row(`the same, packed without an installed git`, 'kB', packed.alone, { goal: { is: '≤', value: 3 } }),
  ]
}

/** @param {number} i @param {number} [count] */
const nameOf = (i, count = tracked) => `src/dir${i % Math.max(1, count / 40)}/file${i}.ts`

/** Source text that depends on nothing but its arguments. @param {number} i @param {number} version */
function textOf(i, version) {
  const lines = JSON.stringify(draft(i * 6 + 3)).match(/.{1,70}/gs) ?? []
  // Each version puts lines of its own in a few places.
  for (let v = 1; v <= version; v++)
    lines.splice((v * 7919 + i) % (lines.length + 1), 1, `changed ${v} in ${i}`)
  return `${lines.join('\n')}\n`
}

const rest = () => new Promise((resolve) => setTimeout(resolve, settleMs))

/** @param {CodeDesk} desk */
async function trackAll(desk) {
  const names = Array.from({ length: tracked }, (_, i) => nameOf(i))
  for (const [i, name] of names.entries()) desk.write(name, textOf(i, 0))
  await rest()
  desk.keep(await desk.take(names))
  return names.map((name) => join(desk.workspace, name))
}

/** @param {readonly string[]} paths */
const statAll = (paths) => {
  for (const path of paths) lstatSync(path, { bigint: true })
}

/** @returns {{ ms: { subject: number[], floor: number[] }, cpu: { subject: number[], floor: number[] } }} */
const noReadings = () => ({ ms: { subject: [], floor: [] }, cpu: { subject: [], floor: [] } })

/** @typedef {{ ms: number, cpu: number }} Taken */
/** @param {ReturnType<typeof noReadings>} readings @param {Taken} subject @param {Taken} floor */
function note(readings, subject, floor) {
  for (const by of /** @type {const} */ (['ms', 'cpu'])) {
    readings[by].subject.push(subject[by])
    readings[by].floor.push(floor[by])
  }
}

/** The checkpoint of every tracked file after a turn, and what a stat of each takes; and the same commit by git. @param {any} args */
export async function turn({ folder, rounds, sync }) {
  const desk = await CodeDesk.at(folder, { sync })
  const paths = await trackAll(desk)
  const git = hasGit() ? new GitByHand(desk) : null
  const readings = noReadings()
  /** @type {Pair & { subject: number[], floor: number[] }} */
  const byGit = { subject: [], floor: [] }
  for (let round = -warmUp; round < rounds; round++) {
    const names = Array.from({ length: changed }, (_, i) =>
      nameOf(((round + warmUp) * 31 + i * 333) % tracked),
    )
    for (const [i, name] of names.entries()) desk.write(name, textOf(i, round + warmUp + 1))
    await rest()
    const stats = await stopwatch(() => statAll(paths))
    /** @type {any} */
    let taken
    const take = await stopwatch(async () => {
      taken = await desk.take()
    })
    if (taken.files.length !== changed) throw new Error(`${taken.files.length} files were recorded`)
    desk.keep(taken)
    const commit = git === null ? null : await stopwatch(() => git.commit(names))
    if (round < 0) continue
    note(readings, take, stats)
    byGit.subject.push(commit?.ms ?? Number.NaN)
    byGit.floor.push(take.ms - stats.ms)
  }
  return { ...readings, git: byGit }
}

/** Commits as a script does that calls git for each file and each step. */
class GitByHand {
  /** @param {CodeDesk} desk */
  constructor(desk) {
    this.desk = desk
    this.env = {
      ...process.env,
      GIT_DIR: join(desk.folder, 'by-hand.git'),
      GIT_WORK_TREE: desk.workspace,
      GIT_INDEX_FILE: join(desk.folder, 'by-hand.index'),
      GIT_CONFIG_GLOBAL: '/dev/null',
      GIT_AUTHOR_NAME: 'a',
      GIT_AUTHOR_EMAIL: 'a@example.org',
      GIT_COMMITTER_NAME: 'a',
      GIT_COMMITTER_EMAIL: 'a@example.org',
    }
    this.run('init', '-q')
    this.run('add', '.')
    this.parent = this.run('commit-tree', this.run('write-tree'), '-m', 'first')
  }

  /** @param {...string} args */
  run(...args) {
    const ran = spawnSync('git', args, { cwd: this.desk.workspace, env: this.env, encoding: 'utf8' })
    if (ran.status !== 0) throw new Error(`git ${args.join(' ')}: ${ran.stderr}`)
    return ran.stdout.trim()
  }

  /** @param {readonly string[]} names */
  commit(names) {
    for (const name of names) {
      const oid = this.run('hash-object', '-w', '--no-filters', name)
      this.run('update-index', '--cacheinfo', `100644,${oid},${name}`)
    }
    this.parent = this.run('commit-tree', this.run('write-tree'), '-p', this.parent, '-m', 'turn')
  }
}

/** What an undo of a turn that changed every file would do. @param {any} args */
export async function preview({ folder, rounds }) {
  const desk = await CodeDesk.at(folder, { sync: false })
  const paths = await trackAll(desk)
  const before = desk.known
  for (let i = 0; i < tracked; i++) desk.write(nameOf(i), textOf(i, 1))
  await rest()
  desk.keep(await desk.take())
  const readings = noReadings()
  for (let round = -warmUp; round < rounds; round++) {
    const stats = await stopwatch(() => statAll(paths))
    const seen = await stopwatch(async () => {
      const { entries } = await desk.preview(before)
      if (entries.filter(({ action }) => action === 'change').length !== tracked)
        throw new Error('not all would change')
    })
    if (round >= 0) note(readings, seen, stats)
  }
  return readings
}

const few = 20

/** One of 20 files changes with each turn. @param {number} turn */
const edited = (turn) => ({
  name: nameOf(turn % few, few),
  text: textOf(turn % few, Math.floor(turn / few) + 1),
})

/** What the checkpoints alone took. @param {CodeDesk} desk @param {number} turns @returns {Promise<Taken>} */
async function work(desk, turns) {
  const sum = { ms: 0, cpu: 0 }
  for (let i = 0; i < turns; i++) {
    const { name, text } = edited(i)
    desk.write(name, text)
    /** @type {any} */
    let taken
    const spent = await stopwatch(async () => {
      taken = await desk.take([name])
    })
    sum.ms += spent.ms
    sum.cpu += spent.cpu
    desk.keep(taken)
  }
  return sum
}

/** Without a disk, where the system has memory for files: renames wait for one even where nothing is synced. @param {string} folder */
const inMemory = (folder) => (existsSync('/dev/shm') ? '/dev/shm' : folder)

/** @param {any} args */
export async function commits({ folder, turns }) {
  const readings = noReadings()
  // The first round only warms up.
  for (let round = -1; round < 3; round++) {
    const desk = await CodeDesk.at(inMemory(folder), { sync: false })
    try {
      const ours = await work(desk, turns)
      const git = await imported(desk, turns)
      if (round >= 0) note(readings, ours, git)
    } finally {
      rmSync(desk.folder, { recursive: true, force: true })
    }
  }
  const isKnown = readings.cpu.floor.every((ms) => ms > 0)
  return { ms: readings.ms, cpu: isKnown ? readings.cpu : null }
}

/** The same commits by git in one go. @param {CodeDesk} desk @param {number} turns @returns {Promise<Taken>} */
async function imported(desk, turns) {
  const into = join(desk.folder, 'fast-import.git')
  spawnSync('git', ['init', '-q', '--bare', into])
  const input = Array.from({ length: turns }, (_, i) => commitLines(i)).join('')
  const before = cpuOfChildren()
  const { ms } = await stopwatch(() => {
    const ran = spawnSync('git', ['-C', into, '-c', 'core.fsync=none', 'fast-import', '--quiet'], { input })
    if (ran.status !== 0) throw new Error(`git fast-import: ${ran.stderr}`)
  })
  return { ms, cpu: cpuOfChildren() - before }
}

/** Milliseconds of CPU that this process's ended children took, to a hundredth of a second; 0 where the system does not say. */
function cpuOfChildren() {
  if (!existsSync('/proc/self/stat')) return 0
  // What follows the name of the program, which may hold blanks: from the third field on.
  const fields = readFileSync('/proc/self/stat', 'utf8')
    .replace(/^.*\) /s, '')
    .split(' ')
  return (Number(fields[13]) + Number(fields[14])) * 10
}

/** @param {number} i */
function commitLines(i) {
  const { name, text } = edited(i)
  const data = (/** @type {string} */ said) => `data ${Buffer.byteLength(said)}\n${said}\n`
  const who = `committer a <a@example.org> ${1_800_000_000 + i} +0000`
  return `commit refs/heads/a\n${who}\n${data('after a tool')}M 100644 inline workspace/${name}\n${data(text)}\n`
}

/** What a long session's repository comes to. @param {any} args */
export async function packed({ folder, turns }) {
  const desk = await CodeDesk.at(folder, { sync: false })
  await work(desk, turns)
  const copy = (/** @type {string} */ name) => {
    cpSync(desk.repository, join(desk.folder, name), { recursive: true })
    return join(desk.folder, name)
  }
  const byGit = copy('by-git.git')
  const ran = spawnSync('git', ['-C', byGit, 'gc', '--quiet', '--prune=now'])
  if (ran.status !== 0) throw new Error(`git gc: ${ran.stderr}`)
  const left = objectsIn(byGit)
  const before = copy('before.git')
  await settledValue(desk.checkpoints.collect({}))
  const ours = objectsIn(desk.repository)
  const again = await CodeDesk.at(folder, { sync: false })
  cpSync(before, again.repository, { recursive: true })
  await settledValue(again.checkpoints.collect({ git: false }))
  const pair = (/** @type {number} */ subject) => ({ subject: [subject / 1000], floor: [left / 1000] })
  return { kB: pair(ours), alone: pair(objectsIn(again.repository)) }
}

/** Bytes of a repository's objects. @param {string} repository */
function objectsIn(repository) {
  const folder = join(repository, 'objects')
  let bytes = 0
  for (const name of readdirSync(folder, { recursive: true, encoding: 'utf8' })) {
    const stat = statSync(join(folder, name))
    if (stat.isFile()) bytes += stat.size
  }
  return bytes
}
