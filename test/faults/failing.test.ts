import { execFile } from 'node:child_process'
import { appendFileSync, cpSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { beforeEach, describe, expect, test } from 'vitest'
import { draftLines, runIn, user } from '../cli/coppice.js'
import { script } from './child.js'
import { library, opened } from './engine.js'
import { Acked, mustHold } from './laws.js'
import { makeFolder, needsCompiler, quickFolder } from './machine.js'
import type { Kind } from './shim.mjs'
import { underShim } from './under-shim.js'

beforeEach(needsCompiler)

const times = Number(process.env.FC_RUNS ?? 1)

interface Played {
  readonly totals: Readonly<
    Record<string, { readonly calls: number; readonly faults: number; readonly rejected: number }>
  >
  readonly problems: readonly unknown[]
}

const sum = (played: Played, of: 'calls' | 'faults' | 'rejected'): number =>
  Object.values(played.totals).reduce((all, one) => all + one[of], 0)

describe('whichever call to the system fails (EIO or ENOSPC once or for good, EINTR, a short write on a full disk)', () => {
  test('a program has what was acknowledged to it, the old state or the new, a clear error, and a store that goes on', async () => {
    const folder = quickFolder()
    const { env } = underShim(makeFolder(folder, 'live'))
    // Of the six ways of each call one or two, others at the next one.
    const of = times >= 10 ? '1' : '4'
    const { stdout } = await promisify(execFile)(process.execPath, [script('failing.mjs'), folder, of], {
      env: { PATH: process.env.PATH, COPPICE_LIBRARY: library, ...env },
      maxBuffer: 1 << 26,
    })
    const played = JSON.parse(stdout) as Played
    expect(played.problems).toEqual([])
    const [calls, faults, rejected] = [sum(played, 'calls'), sum(played, 'faults'), sum(played, 'rejected')]
    console.log(`failing calls: ${JSON.stringify({ calls, faults, rejected })}`)
    for (const [name, work] of Object.entries(played.totals))
      expect(work.faults, name).toBeGreaterThan(work.calls / 3)
    expect(faults).toBeGreaterThan(calls / 2)
  }, 600_000)
})

/** A place with a session whose files a tool changed, and the template that each run begins with. */
class Commands {
  readonly folder = quickFolder()
  readonly live = makeFolder(this.folder, 'live')
  readonly kept = join(this.folder, 'kept')
  readonly store = join(this.live, 'store')
  readonly workspace = makeFolder(this.live, 'workspace')
  readonly shim = underShim(this.live)

  async begin(): Promise<{ readonly session: string; readonly prompt: string }> {
    writeFileSync(join(this.workspace, 'a'), 'one')
    const store = await opened(this.store)
    const session = await store.create({ workspace: this.workspace })
    const events = await session.append(user('change it') as never, { notice: false })
    await session.beforeEdit(['a'])
    writeFileSync(join(this.workspace, 'a'), 'two')
    await session.afterEdit(['a'])
    session.close()
    await store.list()
    store.close()
    cpSync(this.live, this.kept, { recursive: true })
    return { session: session.id, prompt: events.at(-1)?.id ?? '' }
  }

  reset(): void {
    rmSync(this.live, { recursive: true, force: true })
    cpSync(this.kept, this.live, { recursive: true })
  }

  tear(session: string): void {
    const [key = ''] = readdirSync(join(this.store, 'projects'))
    appendFileSync(join(this.store, 'projects', key, session, 'data.jsonl'), '{"id":"0123456789abcdef","par')
  }
}

/** Each call of a command in one of these ways, the next call in the next. */
const ways: readonly (readonly [Kind, number])[] = [
  ['EIO', 1],
  ['kill', 1],
  ['ENOSPC', Number.MAX_SAFE_INTEGER],
  ['torn', 1],
]
/** Of the calls of a command, one in so many: every one of them is met by the test above. */
const step = times >= 10 ? 1 : 5

describe('a command of which a call fails, or that is killed at it', () => {
  const total = { commands: 0, killed: 0, failed: 0 }
  const commands = ['new', 'append', 'recover', 'undo', 'archive', 'redact'] as const

  test.each(commands)(
    '%s: ends with the code of a failure and one clear line, and leaves what was acknowledged',
    async (name) => {
      const place = new Commands()
      const { session, prompt } = await place.begin()
      const args = {
        new: ['new', '--title', 'another'],
        append: ['append', session],
        recover: ['append', session],
        undo: ['undo', session, prompt, '--both'],
        archive: ['archive', session],
        redact: ['redact', session, prompt],
      }[name]
      for (let nth = 1, calls = 1; nth <= calls; nth += step) {
        const [kind, often] = ways[((nth - 1) / step) % ways.length] as (typeof ways)[number]
        place.reset()
        if (name === 'recover') place.tear(session)
        const { control, env } = place.shim
        const run = () =>
          runIn(place.store, args, {
            env,
            cwd: place.workspace,
            input: draftLines(user('one'), user('x'.repeat(5000))),
          })
        if (nth === 1) {
          control.arm('none', 0)
          expect(run().code).toBe(0)
          calls = control.disarm().calls
          place.reset()
          if (name === 'recover') place.tear(session)
        }
        control.arm(kind, nth, often)
        const { code, out, err } = run()
        const { struck, name: call, path } = control.disarm()
        const where = `${kind} at call ${nth} of ${name}: ${call} ${path}`
        total.commands++
        if (code === null) total.killed++
        else if (code !== 0) {
          total.failed++
          expect(code, where).toBe(1)
          expect(err, where).toMatch(/^(coppice: [^\n]+\n)+$/)
          expect(err, where).not.toMatch(/fault of coppice/)
        }
        if (struck === 0) expect(code, where).toBe(0)
        const acked = new Acked()
        const ids = out.split('\n').filter((id) => /^[0-9a-f]{32}$/.test(id))
        acked.add(name === 'new' ? (ids[0] ?? session) : session, ids)
        const store = await opened(place.store)
        for (const { id } of await store.archived()) await store.unarchive(id)
        if (name === 'redact') await store.redact(session, { events: [prompt] })
        store.close()
        await mustHold(place.store, acked, { where })
      }
    },
    120_000 * times,
  )

  test('was met so often', () => {
    console.log(`failing commands: ${JSON.stringify(total)}`)
    expect(total.killed).toBeGreaterThan(5)
    expect(total.failed).toBeGreaterThan(5)
  })
})
