import type { Event } from '../../src/events/event.js'
import type { Clock, Random } from '../../src/events/ports.js'
import type { Session, Store } from '../../src/session/api.js'
import { openStore } from '../../src/session/store/store.js'
import { MemoryFs } from '../support/memory-fs.js'

export const storePath = '/store'
export const workspace = '/nowhere/w'

/** A clock that goes on by a millisecond each time it is looked at. */
const tickingClock = (from = Date.UTC(2026, 11, 1, 9)): Clock => {
  let now = from
  return { now: () => now++ }
}

let stores = 0
/** Randomness of a process of its own: no two stores draw the same. */
const ownRandom = (): Random => {
  const own = (++stores).toString(16)
  let last = 0
  return {
    hex: (bytes) => {
      const text = `${own}${(++last).toString(16).padStart(6, '0')}`.padStart(bytes * 2, '0')
      return text.slice(text.length - bytes * 2)
    },
  }
}

/** A store in memory; another one on the same `fs` is another process. */
export const memoryStore = (fs: MemoryFs = new MemoryFs(), clock: Clock = tickingClock()): Promise<Store> =>
  openStore(storePath, { fs, clock, random: ownRandom() })

export const newSession = async (
  store: Store,
  more: { readonly system?: string; readonly title?: string } = {},
): Promise<Session> => store.create({ workspace, ...more })

export const user = (content: unknown, more: object = {}) => ({
  type: 'message',
  role: 'user',
  content,
  ...more,
})
export const assistant = (content: unknown, more: object = {}) => ({
  type: 'message',
  role: 'assistant',
  content,
  ...more,
})
export const call = (id: string, more: object = {}) =>
  assistant(null, { toolCalls: [{ id, name: 'run', arguments: '{}' }], ...more })
export const result = (toolCallId: string, content: unknown = 'done') => ({
  type: 'message',
  role: 'tool',
  toolCallId,
  ok: true,
  content,
})

/** Appends one draft and gives its event. */
export const say = async (session: Session, draft: object): Promise<Event> => {
  const events = await session.append(draft as never)
  return events[events.length - 1] as Event
}

export const logOf = (fs: MemoryFs, session: string): string => {
  const path = fs.paths().find((name) => name.endsWith(`/${session}/data.jsonl`))
  if (path === undefined) throw new Error(`no log of ${session}`)
  return path
}
export const indexOf = (fs: MemoryFs): string => {
  const path = fs.paths().find((name) => name.endsWith('/metadata.jsonl'))
  if (path === undefined) throw new Error('no index')
  return path
}

/** What a promise rejects with. */
export const refusal = async (
  promise: Promise<unknown>,
): Promise<{ tag: string } & Record<string, unknown>> => {
  try {
    await promise
  } catch (error) {
    return error as never
  }
  throw new Error('it was not refused')
}

/** The texts of the messages that a person sees at the head. */
export const textsOf = async (store: Store, session: string, at?: string): Promise<readonly unknown[]> => {
  const reader = await store.reader(session)
  const { messages } = await reader.messages(at === undefined ? {} : { at })
  return messages.map(({ content }) => content)
}

/** The texts that the model gets at the head, a summary bare. */
export const contextOf = async (store: Store, session: string, at?: string): Promise<readonly unknown[]> => {
  const reader = await store.reader(session)
  const list = await reader.context({ format: 'plain', ...(at === undefined ? {} : { at }) })
  return list.map(({ content }) => String(content).replace(/^Summary of the conversation so far:\n\n/, ''))
}
