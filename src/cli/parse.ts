import { Command, CommanderError, Option } from 'commander'
import type { GlobalOptions } from './context.js'
import { Usage } from './errors/usage.js'
import { type CommandSpec, commands, globalOptions, type OptionSpec } from './table.js'

/** What the command line asks for. `text`: help or the version, to be printed. */
export type Asked =
  | { readonly kind: 'text'; readonly text: string }
  | {
      readonly kind: 'command'
      readonly command: CommandSpec
      readonly args: readonly string[]
      readonly options: Readonly<Record<string, unknown>>
      readonly globals: GlobalOptions
    }

/** Parses what stands after `coppice`. Throws Usage. */
export const parse = (argv: readonly string[], version: string): Asked => {
  let asked: Asked | undefined
  let text = ''
  let complaint = ''
  const program = programOf(version, commandsNamedIn(argv), (command, args, options, globals) => {
    asked = { kind: 'command', command, args, options, globals }
  })
  const output = {
    writeOut: (part: string) => {
      text += part
    },
    writeErr: (part: string) => {
      complaint += part
    },
  }
  for (const command of [program, ...program.commands]) command.exitOverride().configureOutput(output)
  try {
    program.parse(argv, { from: 'user' })
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error
    if (error.exitCode === 0) return { kind: 'text', text }
    throw usageOf(complaint, argv)
  }
  if (asked === undefined) throw new Usage('no command', '', 'see `coppice --help`')
  return asked
}

type Chosen = (
  command: CommandSpec,
  args: readonly string[],
  options: Record<string, unknown>,
  globals: GlobalOptions,
) => void

/** Only what the arguments name has to be built; every command where they name none, for help and suggestions. */
const commandsNamedIn = (argv: readonly string[]): readonly CommandSpec[] => {
  const named = commands.filter(({ name }) => argv.includes(name))
  return named.length > 0 ? named : commands
}

const programOf = (version: string, offered: readonly CommandSpec[], chosen: Chosen): Command => {
  const program = new Command('coppice')
    .description('Keeps the conversations of coding agents as append-only, parent-linked event logs.')
    .usage('[options] COMMAND …')
    .version(version, '--version', 'print the version')
    .helpOption('-h, --help', 'print help')
    .helpCommand('help [command]', 'print help for a command')
    .addHelpText(
      'after',
      '\nExample:\n  $ coppice demo\n\nExit codes: 0 done, 1 failed, 2 wrong usage, 3 not found, 4 damaged data, 5 conflict, 130 interrupted.',
    )
  for (const option of globalOptions) program.addOption(optionOf(option))
  for (const spec of offered) {
    const command = program
      .command(spec.name, { hidden: spec.hidden === true })
      .summary(spec.later === true ? `${spec.summary} (not yet)` : spec.summary)
      .description(`${capitalised(spec.summary)}.`)
      .configureHelp({ showGlobalOptions: true })
      .addHelpText('after', `\nExample:\n  $ ${spec.example}`)
    for (const argument of spec.args ?? []) command.argument(argument)
    for (const option of spec.options ?? []) command.addOption(optionOf(option))
    command.action(() => {
      const args = command.processedArgs.flat().filter((arg): arg is string => typeof arg === 'string')
      chosen(spec, args, command.opts(), program.opts())
    })
  }
  return program
}

const optionOf = ({ flags, text, choices }: OptionSpec): Option => {
  const option = new Option(flags, text)
  return choices === undefined ? option : option.choices([...choices])
}

const capitalised = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1)

/** Commander's complaint as one line: what: where: what to do. */
const usageOf = (complaint: string, argv: readonly string[]): Usage => {
  const lines = complaint.split('\n').map((line) => line.trim().replace(/^error: /, ''))
  const what = lines[0] ?? ''
  const guess = lines.find((line) => line.startsWith('(Did you mean'))
  const command = commands.find(({ name }) => argv.includes(name))
  const [first, wanted] = argv.filter((arg) => !arg.startsWith('-'))
  if (first === 'help' && wanted !== undefined)
    return new Usage(`unknown command '${wanted}'`, '', 'see `coppice --help`')
  const help = `see \`coppice ${command === undefined ? '' : `${command.name} `}--help\``
  return new Usage(
    (what === '' || /^Usage:/.test(what) ? 'no command' : what).replace(/\.$/, ''),
    '',
    guess === undefined ? help : `${guess.slice(1, -1)} ${help}`,
  )
}
