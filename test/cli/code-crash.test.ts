import { once } from 'node:events'
import * as fs from 'node:fs'
import { expect, it } from 'vitest'
import { Agent } from './code.js'
import { startIn } from './coppice.js'

const rounds = Number(process.env.FC_RUNS ?? 1) * 8
const files = 200

const agentWithTurn = async (): Promise<{ readonly agent: Agent; readonly turn: string }> => {
  const agent = new Agent()
  const names = Array.from({ length: files }, (_, i) => `src/dir${i % 7}/file${i}.ts`)
  for (const [i, name] of names.entries()) if (i % 3 !== 0) agent.write(name, `before ${i}\n`.repeat(50))
  const turn = await agent.prompt('change them all')
  await agent.tool(names, () => {
    for (const [i, name] of names.entries())
      if (i % 3 === 1) fs.rmSync(agent.path(name))
      else agent.write(name, `after ${i}\n`.repeat(60))
  })
  return { agent, turn }
}

/** Kills an undo so many milliseconds after its start; says whether it was still at work. */
const killedUndo = async ({ store, session }: Agent, turn: string, afterMs: number): Promise<boolean> => {
  const child = startIn(store, ['undo', session, turn])
  child.stdout.resume()
  child.stderr.resume()
  const timer = setTimeout(() => child.kill('SIGKILL'), afterMs)
  await once(child, 'close')
  clearTimeout(timer)
  return child.signalCode === 'SIGKILL'
}

it(
  'an undo of 200 files that is killed leaves, with the next open, all of them old or all of them new (INV-9)',
  async () => {
    const { agent, turn } = await agentWithTurn()
    const changed = { tree: agent.tree(), head: agent.head() }
    const startedAt = performance.now()
    agent.done('undo', agent.session, turn)
    const wholeMs = performance.now() - startedAt
    const undone = { tree: agent.tree(), head: agent.head() }
    expect(Object.keys(undone.tree)).toHaveLength(files - Math.ceil(files / 3))
    agent.done('redo', agent.session)
    expect(agent.tree()).toEqual(changed.tree)
    let killed = 0
    for (let round = 0; round < rounds; round++) {
      const share = 0.3 + (0.75 * ((round * 37) % rounds)) / rounds
      if (await killedUndo(agent, turn, wholeMs * share)) killed++
      // Whatever opens the session first sees to it.
      agent.done('append', agent.session)
      const isUndone = agent.head() === undone.head
      expect(agent.tree()).toEqual(isUndone ? undone.tree : changed.tree)
      if (isUndone) agent.done('redo', agent.session)
      expect(agent.tree()).toEqual(changed.tree)
    }
    expect(killed).toBeGreaterThan(0)
    expect(agent.run('verify', '--json').json()).toMatchObject({ problems: [] })
  },
  rounds * 15_000,
)
