import { type CommandSpec, globalOptions, type OptionSpec } from '../table.js'
import { firstWords, flagsOf, offered, takesSession } from './words.js'

/** For zsh, `:`, quotes and brackets mean something in a description. */
const described = (text: string): string => text.replace(/[[\]:]/g, '\\$&').replace(/'/g, "'\\''")

const optionOf = (option: OptionSpec): string => {
  const value = /<([^>]+)>/.exec(option.flags)?.[1]
  const files = value === 'file' ? '_files' : value === 'dir' ? '_files -/' : ' '
  const suffix =
    value === undefined
      ? ''
      : `:${described(value)}:${option.choices ? `(${option.choices.join(' ')})` : files}`
  return flagsOf(option)
    .map((flag) => `'${flag}[${described(option.text)}]${suffix}'`)
    .join(' ')
}

const argumentOf = (command: CommandSpec): string => {
  const words = firstWords[command.name]
  if (words !== undefined) return `'1:word:(${words})' '*:file:_files'`
  return takesSession(command) ? "'1:session:_coppice_sessions' '*:file:_files'" : "'*:file:_files'"
}

export const zsh = (): string => `#compdef coppice
# zsh completion for coppice: coppice completion zsh > "\${fpath[1]}/_coppice"
_coppice_sessions() {
  local -a ids
  ids=(\${(f)"$(coppice list --all 2>/dev/null | awk 'NR > 1 { print $1 }')"})
  compadd -a ids
}
_coppice() {
  local context state state_descr line
  typeset -A opt_args
  _arguments -C ${globalOptions.map(optionOf).join(' ')} '1:command:->command' '*::argument:->argument'
  case $state in
    command)
      local -a names
      names=(
${offered()
  .map(({ name, summary }) => `        '${name}:${described(summary)}'`)
  .join('\n')}
      )
      _describe command names ;;
    argument)
      case $words[1] in
${offered()
  .map((command) => {
    const options = [...(command.options ?? []), ...globalOptions].map(optionOf).join(' ')
    return `        ${command.name}) _arguments ${options} ${argumentOf(command)} ;;`
  })
  .join('\n')}
      esac ;;
  esac
}
if [ "$funcstack[1]" = _coppice ]; then _coppice "$@"; else compdef _coppice coppice; fi
`
