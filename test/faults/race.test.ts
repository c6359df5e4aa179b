import { expect, test } from 'vitest'
import { encodeLine, type Line } from '../../src/events/line.js'
import { type Said, Worker } from './child.js'
import { engine } from './engine.js'
import { newFolder } from './machine.js'

const times = Number(process.env.FC_RUNS ?? 1)
const racers = 8
const rounds = 500 * times

const rootLine = (): Line =>
  encodeLine(
    { parent: null, at: '2026-11-01T00:00:00.000Z', type: 'session', note: false },
    { format: 1, nonce: '1', workspace: '/nowhere', cwd: '/nowhere' },
  )

test(
  'of eight processes that append at one expected tail exactly one wins, each time, and the log has their order (INV-7)',
  async () => {
    const folder = newFolder()
    const log = engine.fileLog({ ...engine.systemPorts, folder })
    const root = rootLine()
    expect((await log.create([root])())._tag).toBe('Right')
    const all = Array.from(
      { length: racers },
      (_, i) => new Worker([folder, root.id, `racer ${i}`], { program: 'racer.mjs' }),
    )
    await Promise.all(all.map((racer) => racer.when(({ ready }) => ready === true)))
    const winners = [root.id]
    const wins = new Array<number>(racers).fill(0)
    let refused = 0
    for (let round = 1; round <= rounds; round++) {
      const tail = winners.at(-1) ?? ''
      // Each begins another time, so that no one is always first.
      for (let i = 0; i < racers; i++) all[(i + round) % racers]?.tell(tail)
      const answers: Said[] = await Promise.all(all.map((racer) => racer.when(() => true, round)))
      const won = answers.flatMap(({ id }, i) => (id === undefined ? [] : [{ id, i }]))
      expect(won, `round ${round}`).toHaveLength(1)
      const [winner] = won as [(typeof won)[number]]
      const others = answers.filter(({ id }) => id === undefined)
      refused += others.length
      for (const { tag, actual } of others) expect([tag, actual]).toEqual(['StaleTail', winner.id])
      winners.push(winner.id)
      wins[winner.i] = (wins[winner.i] ?? 0) + 1
    }
    for (const racer of all) racer.child.stdin.end()
    await Promise.all(all.map(({ closed }) => closed))
    const ids: string[] = []
    for await (const lines of log.readForward(root.id)) ids.push(...lines.map(({ id }) => id))
    expect(ids).toEqual(winners)
    log.close()
    console.log(`race: ${JSON.stringify({ racers, rounds, refused, wins })}`)
    expect(refused).toBe(rounds * (racers - 1))
    // A race that one of them always wins is none.
    expect(wins.filter((count) => count > 0).length).toBeGreaterThan(2)
  },
  times * 120_000,
)
