import { describe, expect, test } from 'vitest'
import { absent, type FileRecord, isFileRecord, sameContent } from '../../src/events/file-record.js'

const file: FileRecord = { path: 'workspace/a', kind: 'file', mode: 0o644, oid: 'aa', bytes: 3 }
const link: FileRecord = { path: 'workspace/l', kind: 'link', oid: 'bb', bytes: 4 }

describe('a record of a file', () => {
  test('is a path and what stands there: a file with its mode, a link without one, or nothing', () => {
    expect([file, link, absent('workspace/a')].map(isFileRecord)).toEqual([true, true, true])
    expect(absent('workspace/a')).toEqual({ path: 'workspace/a', kind: 'absent' })
    expect(isFileRecord({ ...file, mode: 0, bytes: 0 })).toBe(true)
  })

  test.each([
    null,
    undefined,
    'workspace/a',
    {},
    { ...file, path: '' },
    { ...file, path: 5 },
    { ...absent(''), path: '' },
    { ...file, kind: 'folder' },
    { ...file, kind: undefined },
    { ...file, oid: undefined },
    { ...file, oid: 5 },
    { ...file, bytes: '3' },
    { ...file, bytes: Number.NaN },
    { ...file, mode: undefined },
    { ...file, mode: Infinity },
    { ...link, oid: undefined },
    { ...link, bytes: undefined },
  ])('is not %j', (value) => {
    expect(isFileRecord(value)).toBe(false)
  })

  test('says the same of the disk where bytes, kind, and of a file the mode, are the same', () => {
    expect(sameContent(file, { ...file, path: 'workspace/b', by: 'someone' })).toBe(true)
    expect(sameContent(file, { ...file, oid: 'ab' })).toBe(false)
    expect(sameContent(file, { ...file, mode: 0o755 })).toBe(false)
    expect(sameContent(file, { ...file, kind: 'link' })).toBe(false)
    expect(sameContent(link, { ...link, mode: 0o777 })).toBe(true)
    expect(sameContent(absent('a'), absent('b'))).toBe(true)
  })
})
