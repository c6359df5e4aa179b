import { spawnSync } from 'node:child_process'
import { describe, expect, it } from 'vitest'
import { commands } from '../../src/cli/table.js'
import { entry, place } from './coppice.js'

const offered = commands
  .filter(({ later, hidden }) => later !== true && hidden !== true)
  .map(({ name }) => name)

/** What bash offers for a line. */
const completions = (line: string): readonly string[] => {
  const words = line.split(' ')
  const quoted = words.map((word) => `'${word}'`).join(' ')
  const script = `source <("${process.execPath}" "${entry}" completion bash); COMP_WORDS=(${quoted}); COMP_CWORD=${words.length - 1}; _coppice; printf '%s\\n' "\${COMPREPLY[@]}"`
  const { stdout, stderr } = spawnSync('bash', ['-c', script])
  expect(String(stderr)).toBe('')
  return String(stdout)
    .split('\n')
    .filter((word) => word !== '')
}

describe('completion', () => {
  it('for bash offers commands, options and words', () => {
    expect(completions('coppice ')).toEqual(expect.arrayContaining([...offered, '--store', 'help']))
    expect(completions('coppice re')).toEqual(
      expect.arrayContaining(['redo', 'replay', 'repair', 'reindex', 'relocate']),
    )
    expect(completions('coppice --json list --l')).toEqual(['--limit'])
    expect(completions('coppice import au')).toEqual(['auto'])
    expect(completions('coppice import c')).toContain('claude')
    expect(completions('coppice context abcd --format ')).toEqual(['openai', 'anthropic', 'plain'])
    expect(completions('coppice list --status p')).toEqual(['pending', 'processing', 'permission_denied'])
    expect(completions('coppice list --limit ')).toEqual([])
  })

  it.each(['zsh', 'fish'])('for %s names every command', (shell) => {
    const { code, out } = place().run(['completion', shell])
    expect(code).toBe(0)
    for (const name of offered) expect(out).toMatch(new RegExp(`\\b${name}\\b`))
    expect(out).not.toContain('undefined')
  })
})
