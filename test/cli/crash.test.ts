import { once } from 'node:events'
import { describe, expect, it } from 'vitest'
import { draftLines, place, runIn, startIn, user } from './coppice.js'

const rounds = Number(process.env.FC_RUNS ?? 1) * 15

const idsIn = (store: string, session: string): ReadonlySet<string> =>
  new Set(
    runIn(store, ['log', session, '--json'])
      .out.split('\n')
      .filter((line) => line !== '')
      .map((line) => (JSON.parse(line) as { id: string }).id),
  )

describe('append that is killed', () => {
  it(
    'has every id on disk that it printed (INV-2), and the next one goes on',
    async () => {
      const { run, store } = place()
      const session = run(['new']).out.trim()
      const acked: string[] = []
      for (let round = 0; round < rounds; round++) {
        const child = startIn(store, ['append', session])
        let printed = ''
        child.stdout.on('data', (data) => {
          printed += data
        })
        child.stdin.on('error', () => {})
        let count = 0
        const feed = setInterval(() => {
          const texts = Array.from({ length: 20 }, () =>
            user(`round ${round}, message ${count++} ${'x'.repeat(count % 7 === 0 ? 9000 : 50)}`),
          )
          child.stdin.write(draftLines(...texts))
        }, 1)
        // Not before it has started, and each round at another moment of its work.
        const enough = 1 + ((round * 37) % 150)
        while (printed.split('\n').length <= enough) await once(child.stdout, 'data')
        await new Promise((resolve) => setTimeout(resolve, (round * 13) % 30))
        child.kill('SIGKILL')
        await once(child, 'close')
        clearInterval(feed)
        // A line cut short was not acknowledged.
        acked.push(...printed.split('\n').slice(0, -1))
      }
      expect(acked.length).toBeGreaterThan(rounds)
      const stored = idsIn(store, session)
      expect(acked.filter((id) => !stored.has(id))).toEqual([])
      run(['append', session], { input: draftLines(user('after')) })
      expect(run(['verify', '--json']).json()).toMatchObject({ problems: [] })
      expect((run(['context', session]).json() as readonly { content: string }[]).at(-1)?.content).toBe(
        'after',
      )
    },
    rounds * 10_000,
  )
})

describe('two processes that append to one session', () => {
  it('lose nothing, and what diverged is shown (INV-7)', async () => {
    const { run, store } = place()
    const session = run(['new']).out.trim()
    run(['append', session], { input: draftLines(user('common')) })
    const writers = ['left', 'right'].map((name) => {
      const child = startIn(store, ['append', session])
      let printed = ''
      child.stdout.on('data', (data) => {
        printed += data
      })
      return { name, child, printed: () => printed.split('\n').filter((id) => id !== '') }
    })
    // Both hold the session before the race begins.
    for (const { name, child } of writers) {
      child.stdin.write(draftLines({ type: 'status', status: 'processing', reason: name }))
      await once(child.stdout, 'data')
    }
    for (let i = 0; i < 30; i++)
      for (const { name, child } of writers) {
        child.stdin.write(draftLines(user(`${name} ${i}`)))
        await new Promise((resolve) => setTimeout(resolve, 1))
      }
    for (const { child } of writers) child.stdin.end()
    await Promise.all(writers.map(({ child }) => once(child, 'close')))
    expect(writers.map(({ child }) => child.exitCode)).toEqual([0, 0])
    const stored = idsIn(store, session)
    for (const { printed } of writers) {
      expect(printed()).toHaveLength(31)
      expect(printed().every((id) => stored.has(id))).toBe(true)
    }
    const [row] = run(['list', '--json']).json() as readonly {
      branches: number
      diverged: readonly { leaf: string }[]
    }[]
    const { branches } = run(['tree', session, '--json']).json() as {
      branches: readonly { leaf: string; diverged: boolean }[]
    }
    expect(row?.branches).toBe(2)
    expect(row?.diverged).toHaveLength(1)
    expect(branches.filter(({ diverged }) => diverged).map(({ leaf }) => leaf)).toEqual(
      row?.diverged.map(({ leaf }) => leaf),
    )
    const report = run(['verify', '--json']).json() as {
      problems: unknown[]
      diverged: readonly { session: string }[]
    }
    expect(report.problems).toEqual([])
    expect(report.diverged.map((one) => one.session)).toEqual([session])
    expect(run(['list']).out).toContain('diverged')
    // Each writer's own chain is whole, and on it in order.
    for (const { printed } of writers) {
      const path = run(['show', session, '--json', '--at', printed().at(-1) ?? '']).json() as readonly {
        id: string
      }[]
      expect(path.map(({ id }) => id).filter((id) => printed().includes(id))).toEqual(printed().slice(1))
    }
  })
})
