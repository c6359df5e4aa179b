import { describe, expect, it } from 'vitest'
import { safe, safeJson, safeLine, safeName } from '../../src/cli/safe-text.js'

describe('text from a log, as it is printed for people', () => {
  it('shows escape codes instead of sending them', () => {
    expect(safe('a\x1b[31mred\x07')).toBe('a␛[31mred␇')
  })
  it('shows C1 control characters and DEL', () => {
    expect(safe('\x9b31m\x7f')).toBe('<U+009B>31m␡')
  })
  it('shows what would reorder text', () => {
    expect(safe('abc\u202ecod')).toBe('abc<U+202E>cod')
  })
  it('keeps newlines and tabs of a message, and other scripts', () => {
    expect(safe('a\n\tb 漢字 é')).toBe('a\n\tb 漢字 é')
  })
  it('puts a title on one line', () => {
    expect(safeLine(' a\r\n  b\u2028c ')).toBe('a b c')
  })
  it('keeps a path recognisable', () => {
    expect(safeName('/tmp/a\nb')).toBe('/tmp/a␊b')
  })
  it('leaves JSON the same value', () => {
    const value = { text: 'a\x9b\u202e\n' }
    const spelled = safeJson(JSON.stringify(value))
    expect(spelled).not.toMatch(/[\x80-\x9f\u202e]/)
    expect(JSON.parse(spelled)).toEqual(value)
  })
})
