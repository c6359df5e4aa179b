import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeEach, describe, expect, test } from 'vitest'
import { runIn } from '../cli/coppice.js'
import { sleep, Worker } from './child.js'
import { opened } from './engine.js'
import { Acked, mustHold } from './laws.js'
import { makeFolder, needsCompiler, newFolder } from './machine.js'
import { underShim } from './under-shim.js'

beforeEach(needsCompiler)

/** Whether a process is stopped, as the system says. */
const isStopped = (pid: number | undefined): boolean =>
  /^\d+ \(.*\) T/.test(readFileSync(`/proc/${pid}/stat`, 'utf8'))

const untilStopped = async (worker: Worker): Promise<void> => {
  for (let waited = 0; !isStopped(worker.child.pid); waited += 5) {
    if (waited > 20_000) throw new Error(`it is not stopped: ${worker.err}`)
    await sleep(5)
  }
}

const begin = async () => {
  const folder = newFolder()
  const [path, workspace] = [join(folder, 'store'), makeFolder(folder, 'workspace')]
  const store = await opened(path)
  const session = await store.create({ workspace, title: 'to be stopped' })
  const acked = new Acked()
  acked.add(session.id, [session.id])
  session.close()
  const { control, env } = underShim(join(path, 'projects'))
  const worker = new Worker([path, workspace, 'append', session.id], { env })
  await worker.begin('6 hold')
  const takeIn = (): void => {
    for (const { session: id, acked: ids = [] } of worker.said) if (id !== undefined) acked.add(id, ids)
  }
  return { path, store, id: session.id, acked, control, worker, takeIn }
}

const total = { stops: 0, others: 0, kept: 0 }

/** Events that another process appends meanwhile. */
const appendBeside = async (
  { store, id, acked }: Awaited<ReturnType<typeof begin>>,
  text: string,
): Promise<void> => {
  const session = await store.open(id)
  for (let i = 0; i < 3; i++) {
    const events = await session.append({ type: 'message', role: 'user', content: `${text} ${i}` })
    acked.add(
      id,
      events.map((event) => event.id),
    )
    total.others += events.length
  }
  session.close()
}

describe('a writer that is stopped', () => {
  test('at any of its calls, and wakes when others have written, loses nothing of anyone and writes nothing twice', async () => {
    // The calls of an append are fewer, and every one of them is met.
    for (let nth = 1; nth <= 12; nth++) {
      const place = await begin()
      const { worker, control, path, takeIn, acked } = place
      control.arm('stop', nth)
      worker.tell('')
      await untilStopped(worker)
      total.stops++
      // Where it holds the lock, others wait for it.
      const beside = appendBeside(place, `beside ${nth}`)
      const isKeptOut =
        (await Promise.race([beside.then(() => false), sleep(300).then(() => true)])) &&
        isStopped(worker.child.pid)
      if (isKeptOut) total.kept++
      worker.child.kill('SIGCONT')
      await worker.when(({ done }) => done === true)
      await worker.closed
      await beside
      takeIn()
      expect(acked.of(place.id).size).toBeGreaterThan(6)
      place.store.close()
      await mustHold(path, acked, { where: `stopped at call ${nth}` })
    }
    expect(total.kept).toBeGreaterThan(0)
  }, 120_000)

  test('while it holds the lock, and is then killed, loses its lock to the next, who goes on after what it wrote', async () => {
    const place = await begin()
    const { worker, control, path, takeIn, acked } = place
    // Between the write and the sync.
    control.arm('stop', 1)
    worker.tell('')
    for (;;) {
      await untilStopped(worker)
      const { name, path: on } = control.disarm()
      if (name === 'fdatasync' && on.endsWith('/data.jsonl')) break
      control.arm('stop', 1)
      worker.child.kill('SIGCONT')
      while (isStopped(worker.child.pid) && control.seen().struck === 0) await sleep(1)
    }
    const beside = appendBeside(place, 'beside')
    await sleep(100)
    await worker.end()
    await beside
    takeIn()
    place.store.close()
    await mustHold(path, acked)
  }, 60_000)

  test('holds its session: who would take the log away is refused, with the code of a conflict', async () => {
    const place = await begin()
    const { worker, path, id, takeIn, acked } = place
    worker.child.kill('SIGSTOP')
    await untilStopped(worker)
    for (const command of [
      ['archive', id],
      ['delete', id],
      ['redact', id, '--detect'],
    ]) {
      const { code, err } = runIn(path, command)
      expect([code, err]).toEqual([
        5,
        expect.stringMatching(/^coppice: process \d+ holds it open: [^\n]+\n$/),
      ])
    }
    worker.child.kill('SIGCONT')
    worker.tell('')
    await worker.when(({ done }) => done === true)
    await worker.closed
    takeIn()
    place.store.close()
    await mustHold(path, acked)
  })

  test('was met so often', () => {
    console.log(`stopped: ${JSON.stringify(total)}`)
    expect(total.stops).toBeGreaterThan(10)
  })
})
