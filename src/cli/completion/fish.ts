import { globalOptions, type OptionSpec } from '../table.js'
import { firstWords, flagsOf, offered, takesSession } from './words.js'

const quoted = (text: string): string => `'${text.replace(/['\\]/g, '\\$&')}'`

const optionOf = (option: OptionSpec, condition: string): string => {
  const names = flagsOf(option).map((flag) =>
    flag.startsWith('--') ? `-l ${flag.slice(2)}` : `-s ${flag.slice(1)}`,
  )
  const value = !option.flags.includes('<')
    ? ''
    : option.choices
      ? ` -x -a ${quoted(option.choices.join(' '))}`
      : ' -r'
  return `complete -c coppice${condition} ${names.join(' ')}${value} -d ${quoted(option.text)}`
}

export const fish = (): string => {
  const seen = (name: string): string => ` -n '__fish_seen_subcommand_from ${name}'`
  const lines = [
    '# fish completion for coppice: coppice completion fish > ~/.config/fish/completions/coppice.fish',
    'function __coppice_sessions',
    "  coppice list --all 2>/dev/null | awk 'NR > 1 { print $1 }'",
    'end',
    ...globalOptions.map((option) => optionOf(option, '')),
  ]
  for (const command of offered()) {
    const { name, summary, options = [] } = command
    lines.push(`complete -c coppice -f -n __fish_use_subcommand -a ${name} -d ${quoted(summary)}`)
    for (const option of options) lines.push(optionOf(option, seen(name)))
    const words = firstWords[name]
    if (words !== undefined) lines.push(`complete -c coppice${seen(name)} -a ${quoted(words)}`)
    if (takesSession(command)) lines.push(`complete -c coppice${seen(name)} -a '(__coppice_sessions)'`)
  }
  return `${lines.join('\n')}\n`
}
