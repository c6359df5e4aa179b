import { mkdirSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { place } from './coppice.js'

describe('the tour', () => {
  it('shows everything on the samples, asks nothing, and leaves only a temporary store', () => {
    const here = place()
    const temporary = join(here.folder, 'tmp')
    mkdirSync(temporary)
    const started = Date.now()
    const { code, out, err } = here.run(['demo'], { env: { HOME: here.folder, TMPDIR: temporary } })
    expect({ code, err }).toEqual({ code: 0, err: '' })
    expect(Date.now() - started).toBeLessThan(20_000)
    for (const said of [
      'coppice discover',
      'coppice list',
      'coppice tree',
      'HEAD',
      'coppice context',
      'coppice undo',
      'redone: the context is the same',
      'every hash and link holds',
      'COPPICE_STORE=',
    ])
      expect(out).toContain(said)
    expect(out).not.toContain('✗')
    const [store = '', ...others] = readdirSync(temporary)
    expect(others).toEqual([])
    expect(here.run(['verify', '--store', join(temporary, store)]).code).toBe(0)
    expect(readdirSync(here.folder)).toEqual(['tmp'])
  })
})
