import { afterEach, beforeEach, expect, test } from 'vitest'
import { actionsOf, Desk, refusedBy, Talk } from './desk.js'

let desk: Desk
let mine: Talk
let theirs: Talk
beforeEach(async () => {
  desk = new Desk()
  mine = new Talk(desk)
  theirs = new Talk(desk)
  mine.scans = true
  theirs.scans = true
  desk.write('base', 'one')
  await mine.prompt()
  await theirs.prompt()
})
afterEach(() => desk.clear())

const search = (talk: Talk) => talk.take('after-tool', { scan: true })

test('a search takes nothing for its own that another session has written meanwhile', async () => {
  const prompt = await mine.prompt()
  await theirs.edit('their file', 'made')
  await theirs.edit('base', 'two')
  desk.write('my file', 'made')
  await search(mine)
  const to = mine.events.get(prompt)?.parent as string
  expect(actionsOf(await mine.preview(to))).toEqual({
    'workspace/base': 'conflict',
    'workspace/my file': 'delete',
    'workspace/their file': 'conflict',
  })
  expect((await refusedBy(mine.restoring(to))).message).toContain(`session ${theirs.id} wrote it since`)
  await mine.undo(prompt, { keep: true })
  expect(desk.tree()).toEqual({ base: '644 two', 'their file': '644 made' })
})

test('nor does the search before a prompt, of what the other one only searched for too', async () => {
  const prompt = await mine.prompt()
  desk.write('their file', 'made')
  await search(theirs)
  await mine.prompt()
  const { entries } = await mine.preview(mine.events.get(prompt)?.parent as string)
  expect(entries.find(({ path }) => path === 'workspace/their file')).toMatchObject({
    action: 'conflict',
    by: theirs.id,
  })
  // Who came first has it.
  const turn = await theirs.prompt()
  desk.write('base', 'theirs')
  await search(theirs)
  await search(mine)
  await theirs.undo(turn)
  expect(desk.read('base')).toBe('one')
})

test('what another session wrote long before, and a command made again, is its own', async () => {
  theirs.checkpoints = desk.open({ clock: { now: () => Date.now() - 120_000 } })
  await theirs.edit('made', 'again')
  desk.remove('made')
  await mine.prompt()
  const prompt = await mine.prompt()
  desk.write('made', 'again')
  await search(mine)
  await mine.undo(prompt)
  expect(desk.tree()).toEqual({ base: '644 one' })
})
