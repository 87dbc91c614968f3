#compdef mabos
# zsh completion for mabos, printed by: mabos completion zsh

_mabos() {
  local program line
  local -a found values shown
  program=${${(Q)words[1]}/#\~/$HOME}
  (( $+commands[$program] )) || [[ -x $program ]] || program=mabos
  found=("${(@f)$("$program" complete words -- "${(@Q)words[2,CURRENT-1]}" "${(Q)PREFIX}" 2>/dev/null)}")
  [[ $PREFIX == --*=* ]] && compset -P '*='
  case $found[1] in
    :files) _files; return ;;
    :folders) _files -/; return ;;
  esac
  for line in $found; do
    values+=("${line%%$'\t'*}")
    shown+=("${line/$'\t'/  -- }")
  done
  [[ $values == */ ]] && compadd -S '' -V mabos -a values || compadd -l -V mabos -d shown -a values
}

if [[ ${zsh_eval_context[-1]} == loadautofunc ]]; then
  _mabos "$@"
else
  compdef _mabos mabos
fi
