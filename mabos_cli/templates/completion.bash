# bash completion for mabos, printed by: mabos completion bash

_mabos() {
  local program
  program=$(type -P -- "${COMP_WORDS[0]/#\~/$HOME}") || program=mabos
  mapfile -t COMPREPLY < <("$program" complete bash "${COMP_LINE:0:COMP_POINT}" "$2" 2>/dev/null)
  case ${COMPREPLY[0]} in
    :files) COMPREPLY=() && compopt -o default ;;
    :folders) COMPREPLY=() && compopt -o dirnames ;;
    */) compopt -o nospace ;;
  esac
}

complete -o nosort -F _mabos mabos 2>/dev/null || complete -F _mabos mabos
