import { describe, expect, it } from 'vitest'
import { detectInTexts, detectSecrets, redactor } from '../../src/secrets.js'
import { innocentSamples, secretSamples } from './samples.js'

describe('finding secrets', () => {
  it.each(secretSamples)('finds %s, and no more than it', async (_, before, secret, after, kind) => {
    const found = await detectSecrets(before + secret + after)
    expect(found).toEqual([{ start: before.length, end: before.length + secret.length, kind }])
  })

  it.each(innocentSamples)('leaves alone %s', async (_, text) => {
    const found = await detectSecrets(text)
    expect(found.map(({ start, end, kind }) => [kind, text.slice(start, end)])).toEqual([])
  })

  it('finds the same in many texts at once as in each alone', async () => {
    const texts = [
      ...secretSamples.map(([, before, secret, after]) => before + secret + after),
      ...innocentSamples.map(([, text]) => text),
    ]
    const alone = await Promise.all(texts.map(detectSecrets))
    expect(await detectInTexts(texts)).toEqual(alone)
  })

  it('is not switched off by a text that asks for it', async () => {
    const [, , secret = ''] = secretSamples.find(([name]) => name === 'a GitHub token') ?? []
    expect(await detectSecrets(`secretlint-disable\n${secret}`)).toHaveLength(1)
  })
})

describe('a text that was made to be slow to look through', () => {
  const units = [
    'key',
    'password: ',
    'eyJaaaaaaaaaa.eyJ',
    'sk-',
    'a://b:',
    '-----BEGIN PRIVATE KEY-----',
    'secret   :   ',
    'xoxb-a-',
    '\\\\"',
    'token_token-',
  ]
  it.each(units)('of %j takes time in proportion to its length', async (unit) => {
    const timeOf = async (length: number): Promise<number> => {
      const text = unit.repeat(length / unit.length)
      const start = performance.now()
      await detectSecrets(text)
      return performance.now() - start
    }
    await timeOf(8 * 1024)
    const short = await timeOf(16 * 1024)
    // Sixteen times the text: a square of it would take 256 times as long.
    expect(await timeOf(256 * 1024)).toBeLessThan(Math.max(3000, 120 * short))
  })
})

describe('taking secrets out', () => {
  it('puts a mark in the place of each, counts them, and finds nothing left', async () => {
    const { redact, counts } = await redactor()
    for (const [, before, secret, after, kind] of secretSamples) {
      const redacted = await redact(before + secret + after)
      expect(redacted).toBe(`${before}[redacted: ${kind}]${after}`)
      expect(await detectSecrets(redacted)).toEqual([])
    }
    expect([...counts.values()].reduce((sum, count) => sum + count, 0)).toBe(secretSamples.length)
  })

  it('redacts the strings of a value, knows a password by its name, and leaves signatures and media alone', async () => {
    const { redactValue, counts } = await redactor()
    const signature = `sk-ant-${'q7Rw'.repeat(12)}`
    const value = {
      password: 'b4tteryStaple',
      parts: [{ type: 'image', media: 'image/png', data: signature }, 'DB_PASSWORD=c0rrect-horse'],
      thinking: { text: 'hm', signature },
      count: 3,
    }
    expect(await redactValue(value)).toEqual({
      ...value,
      password: '[redacted: password]',
      parts: [value.parts[0], 'DB_PASSWORD=[redacted: password]'],
    })
    expect(counts).toEqual(new Map([['password', 2]]))
  })
})
