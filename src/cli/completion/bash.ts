import { globalOptions } from '../table.js'
import { firstWords, namesOf, offered, sessionCommands, valuesOf, wordsOf } from './words.js'

export const bash = (): string => `# bash completion for coppice: source <(coppice completion bash)
_coppice() {
  local word=\${COMP_WORDS[COMP_CWORD]} command= at=0 i
  for ((i = 1; i < COMP_CWORD; i++)); do
    case \${COMP_WORDS[i]} in
      -w|--workspace|--store) ((i++)) ;;
      -*) ;;
      *) command=\${COMP_WORDS[i]}; at=$i; break ;;
    esac
  done
  case $command,\${COMP_WORDS[COMP_CWORD-1]} in
${valuesOf()
  .map(({ asked, words }) => `    ${asked}) COMPREPLY=($(compgen -W '${words}' -- "$word")); return ;;`)
  .join('\n')}
  esac
  local words=
  case $command in
    '') words='${namesOf()} help ${wordsOf(globalOptions)} --version' ;;
${offered()
  .map(({ name, options = [] }) => `    ${name}) words='${wordsOf([...options, ...globalOptions])}' ;;`)
  .join('\n')}
  esac
  if [[ $word != -* && -n $command ]]; then
    words=
    if ((COMP_CWORD == at + 1)); then
      case $command in
${Object.entries(firstWords)
  .map(([name, words]) => `        ${name}) words='${words}' ;;`)
  .join('\n')}
        ${sessionCommands()}) words=$(coppice list --all 2>/dev/null | awk 'NR > 1 { print $1 }') ;;
      esac
    fi
  fi
  COMPREPLY=($(compgen -W "$words" -- "$word"))
}
complete -o default -F _coppice coppice
`
