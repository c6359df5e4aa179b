// @ts-check
/** Sessions with branches, edits, labels and compactions, always the same ones. */
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { dist } from '../built.mjs'

/** Numbers from 0 up to 1 that look random. @param {number} seed */
const numbers = (seed) => {
  let state = seed + 1
  return () => {
    state = (state * 48271) % 2147483647
    return state / 2147483647
  }
}

/**
 * Makes `count` sessions in the store.
 * @param {import('./carried.mjs').Carrying} carrying
 * @param {number} count
 */
export const composed = async ({ workspace, env }, count) => {
  /** @type {typeof import('../../src/index.js')} */
  const coppice = await import(pathToFileURL(join(dist, 'index.js')).href)
  const store = await coppice.openStore(env.COPPICE_STORE)
  try {
    for (let seed = 0; seed < count; seed++) {
      const session = await store.create({ workspace, system: 'Be brief.' })
      const next = numbers(seed)
      for (let turn = 0; turn < 8; turn++) await act(session, next, `${seed}.${turn}`)
      session.close()
    }
  } finally {
    await store.close()
  }
}

/**
 * One turn: words, mostly with calls; then at times something that is done to the session.
 * @param {import('../../src/session/api.js').Session} session
 * @param {() => number} next
 * @param {string} name
 */
const act = async (session, next, name) => {
  const events = await session.append(turnOf(next, name))
  const [first] = events
  const some = events[Math.floor(next() * events.length)]
  const chance = next()
  if (first === undefined || some === undefined) return
  if (chance < 0.15) await session.undo(first.id, { what: 'conversation' })
  else if (chance < 0.3) await session.checkout(some.id)
  else if (chance < 0.4) await session.branch(`way ${name}`)
  else if (chance < 0.5) await session.edit(first.id, `edited ${name}`)
  else if (chance < 0.6) await session.label(first.id, `label ${name}`)
  else if (chance < 0.8) {
    const through = next() < 0.5 ? { through: first.id } : {}
    await session.compact({ summary: `summary ${name}`, ...through }).catch(unlessRefused)
  }
}

/** A compaction that would cover an open call is refused: then there is none. @param {{ tag?: string }} error */
const unlessRefused = (error) => {
  if (error.tag !== 'Refused') throw error
}

/** @param {() => number} next @param {string} name */
const turnOf = (next, name) => {
  const calls = Array.from({ length: Math.floor(next() * 3) }, (_, i) => ({
    id: `call_${name}_${i}`,
    name: 'bash',
    arguments: JSON.stringify({ command: `echo ${name} ${i}` }),
  }))
  const answered = calls.slice(0, next() < 0.9 ? calls.length : 0)
  const spoken = { type: 'message', role: 'assistant' }
  return [
    { type: 'message', role: 'user', content: `asked ${name}` },
    ...(calls.length === 0 ? [] : [{ ...spoken, content: `looking ${name}`, toolCalls: calls }]),
    ...answered.map(({ id }) => ({
      type: 'message',
      role: 'tool',
      toolCallId: id,
      content: `found ${id}`,
      ok: true,
    })),
    { ...spoken, content: `answered ${name}` },
  ]
}
