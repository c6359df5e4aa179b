import { describe, expect, it } from 'vitest'
import { loaders } from '../../src/cli/loaders.js'
import { parse } from '../../src/cli/parse.js'
import { commands } from '../../src/cli/table.js'
import { statuses } from '../../src/events/event.js'

const asked = (...argv: string[]) => {
  const found = parse(argv, '1.2.3')
  return found.kind === 'command' ? { ...found, command: found.command.name } : found
}

describe('the command line', () => {
  it('takes options before the command, after it, and after its arguments', () => {
    const expected = { command: 'show', args: ['abcd'], globals: { json: true, store: '/s' } }
    expect(asked('--json', '--store', '/s', 'show', 'abcd')).toMatchObject(expected)
    expect(asked('show', '--json', 'abcd', '--store', '/s')).toMatchObject(expected)
    expect(asked('show', 'abcd', '--json', '--store=/s')).toMatchObject(expected)
  })
  it('keeps the workspace apart from what the command takes', () => {
    expect(asked('list', '-w', '/a b', '--limit', '3')).toMatchObject({
      globals: { workspace: '/a b' },
      options: { limit: '3' },
    })
  })
  it('takes what follows -- as it stands', () => {
    expect(asked('title', 'abcd', '--', '--json')).toMatchObject({ args: ['abcd', '--json'] })
  })
  it('gives several paths one after the other', () => {
    expect(asked('import', 'auto', 'a', 'b')).toMatchObject({ args: ['auto', 'a', 'b'] })
  })
  it.each([
    [[], /^no command/],
    [['nonsense'], /unknown command 'nonsense'/],
    [['lisst'], /Did you mean list/],
    [['show'], /missing required argument 'session'/],
    [['list', '--nonsense'], /unknown option '--nonsense'/],
    [['list', 'x', 'y'], /too many arguments/],
    [['context', 'abcd', '--format', 'xml'], /openai, anthropic, plain/],
  ] as const)('refuses %j in one line', (argv, message) => {
    expect(() => asked(...argv)).toThrow(message)
    try {
      asked(...argv)
    } catch (error) {
      expect((error as Error).message).not.toContain('\n')
      expect((error as Error).message).toMatch(/--help`$/)
    }
  })
  it('has help with an example for every command', () => {
    for (const { name, example } of commands) {
      const help = asked(name, '--help')
      expect(help).toMatchObject({ kind: 'text' })
      expect(help.kind === 'text' ? help.text : '').toContain(example)
    }
  })
  it('offers the statuses that there are', () => {
    const status = commands
      .find(({ name }) => name === 'list')
      ?.options?.find(({ flags }) => flags.startsWith('--status'))
    expect(status?.choices).toEqual(statuses)
  })
  it('has code for every command that is not for later', () => {
    const here = commands.filter(({ later }) => later !== true).map(({ name }) => name)
    expect(Object.keys(loaders).sort()).toEqual(here.sort())
  })
  it('says its version', () => {
    expect(asked('--version')).toEqual({ kind: 'text', text: '1.2.3\n' })
  })
})
