import { describe, expect, it } from 'vitest'
import { openStore } from '../../src/session/store/store.js'
import { MemoryFs } from '../support/memory-fs.js'
import { assistant, contextOf, logOf, memoryStore, newSession, say, storePath, user } from './stores.js'

const token = `gh${'p_'}wWPw5k4aXcaT4fNP0UcnZwJUVFk6LO0pINUx`
const vaultPath = `${storePath}/vault.jsonl`

let draws = 0
const guarded = (fs: MemoryFs) =>
  openStore(storePath, {
    fs,
    redact: 'write',
    random: {
      hex: (bytes) =>
        (++draws)
          .toString(16)
          .padStart(bytes * 2, '0')
          .slice(-bytes * 2),
    },
  })

/** Files that hold the token, the vault's included. */
const holding = (fs: MemoryFs): readonly string[] =>
  fs.paths().filter((path) => fs.bytesOf(path).includes(token))

describe('a store that redacts when it writes', () => {
  it('puts secrets into the vault and a placeholder into the log, whatever holds them', async () => {
    const fs = new MemoryFs()
    const store = await guarded(fs)
    const session = await newSession(store, { system: `the token is ${token}` })
    await session.append([
      user(`use ${token}, and DB_PASSWORD=c0rrect-horse`),
      assistant(null, { toolCalls: [{ id: 'c', name: 'run', arguments: `{"token":"${token}"}` }] }),
      user(`${'word '.repeat(20_000)}${token}`),
    ])
    await session.title(`about ${token}`)
    const prompt = await say(session, user('more'))
    await session.edit(prompt.id, `more ${token}`)
    await session.compact({ summary: `it was ${token}` })
    session.close()
    expect(holding(fs)).toEqual([vaultPath])
    const lines = fs.bytesOf(vaultPath).toString().trimEnd().split('\n')
    expect(lines.map((line) => JSON.parse(line) as object)).toMatchObject([
      { kind: 'github-token', value: token },
      { kind: 'password', value: 'c0rrect-horse' },
    ])
    expect((await store.verify()).problems).toEqual([])
  })

  it('gives them back to who asks, and to the model only the placeholder', async () => {
    const fs = new MemoryFs()
    const store = await guarded(fs)
    const session = await newSession(store)
    await say(session, user(`use ${token}`))
    session.close()
    const [text] = await contextOf(store, session.id)
    expect(text).toMatch(/^use \[redacted: github-token [0-9a-f]{16}\]$/)
    expect(store.reveal({ said: [text] })).toEqual({ said: [`use ${token}`] })
    // Another process, which was not opened so, reads the same vault.
    expect((await memoryStore(fs)).reveal(text)).toBe(`use ${token}`)
  })

  it('has the same placeholder for the same value, also after a restart', async () => {
    const fs = new MemoryFs()
    const texts: unknown[] = []
    for (const _ of [1, 2]) {
      const store = await guarded(fs)
      const session = await newSession(store)
      texts.push(
        (await say(session, user(`use ${token}`))).content,
        (await say(session, user(`use ${token}`))).content,
      )
      session.close()
      store.close()
    }
    expect(new Set(texts).size).toBe(1)
    expect(fs.bytesOf(vaultPath).toString().trimEnd().split('\n')).toHaveLength(1)
  })

  it('drops the signature of a thought that it changed, and blocks to be sent back unchanged', async () => {
    const store = await guarded(new MemoryFs())
    const session = await newSession(store)
    const thoughts = [
      { text: 'plain', signature: 'c2lnbmVk' },
      { text: `with ${token}`, signature: 'c2lnbmVk' },
    ]
    const said = await say(session, assistant('ok', { reasoning: thoughts, replay: { blocks: [token] } }))
    expect(said.reasoning).toEqual([
      thoughts[0],
      { text: expect.stringContaining('[redacted: github-token') },
    ])
    expect(said).not.toHaveProperty('replay')
    const untouched = await say(session, assistant('ok', { replay: { signature: token, blocks: ['x'] } }))
    expect(untouched.replay).toEqual({ signature: token, blocks: ['x'] })
  })

  it('writes nothing where the vault cannot be written', async () => {
    const fs = new MemoryFs()
    const store = await guarded(fs)
    const session = await newSession(store)
    const before = fs.bytesOf(logOf(fs, session.id))
    fs.fault = (operation, path) => {
      if (path === vaultPath && operation === 'write')
        throw Object.assign(new Error('full'), { code: 'ENOSPC' })
      return undefined
    }
    await expect(say(session, user(`use ${token}`))).rejects.toMatchObject({ tag: 'StoreUnusable' })
    fs.fault = () => undefined
    expect(fs.bytesOf(logOf(fs, session.id)).equals(before)).toBe(true)
    await say(session, user(`use ${token}`))
    expect(holding(fs)).toEqual([vaultPath])
  })

  it('is off where nobody asks for it', async () => {
    const fs = new MemoryFs()
    const store = await memoryStore(fs)
    const session = await newSession(store)
    expect((await say(session, user(`use ${token}`))).content).toBe(`use ${token}`)
    expect(fs.paths()).not.toContain(vaultPath)
  })
})
