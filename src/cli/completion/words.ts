import { formats } from '../../formats/registry.js'
import { type CommandSpec, commands, type OptionSpec } from '../table.js'

/** Commands that this version has, each once. */
export const offered = (): readonly CommandSpec[] =>
  commands.filter(({ later, hidden }) => later !== true && hidden !== true)

/** The flags of an option: `-w, --workspace <dir>` → `-w`, `--workspace`. */
export const flagsOf = ({ flags }: OptionSpec): readonly string[] =>
  flags.split(/[ ,|]+/).filter((flag) => flag.startsWith('-'))

export const wordsOf = (options: readonly OptionSpec[]): string =>
  [...options.flatMap(flagsOf), '--help'].join(' ')

export const namesOf = (): string =>
  offered()
    .map(({ name }) => name)
    .join(' ')

/** Options whose value is one of a few, as the words of a command line that ask for it: `context,--format`. */
export const valuesOf = (): readonly { readonly asked: string; readonly words: string }[] =>
  offered().flatMap(({ name, options = [] }) =>
    options.flatMap((option) =>
      option.choices === undefined
        ? []
        : flagsOf(option).map((flag) => ({
            asked: `${name},${flag}`,
            words: option.choices?.join(' ') ?? '',
          })),
    ),
  )

/** What a command takes as its first word, where that is one of a few. */
export const firstWords: Readonly<Record<string, string>> = {
  import: ['auto', ...formats.map(({ name }) => name)].join(' '),
  completion: 'bash zsh fish',
}

/** Whether the first argument is a session, which the script then asks the store for. */
export const takesSession = ({ args }: CommandSpec): boolean => /session/.test(args?.[0] ?? '')

export const sessionCommands = (): string =>
  offered()
    .filter(takesSession)
    .map(({ name }) => name)
    .join('|')
