#compdef mabos
# zsh completion for mabos, made by: mabos completion zsh

@TABLE@

# Offers lines of a word, a tab and what it means, in their order.
_mabos_reply() {
  local line
  local -a values shown
  for line in "$@"; do
    [[ -n $line ]] || continue
    values+=("${line%%$'\t'*}")
    shown+=("${line/$'\t'/  -- }")
  done
  [[ $values == */ ]] && compadd -S '' -V mabos -a values || compadd -l -V mabos -d shown -a values
}

_mabos_offer() {
  case $kind in
    any | '') return 1 ;;
    files) _files ;;
    folders) _files -/ ;;
    '='*) _mabos_reply "${(@f)kind#=}" ;;
    *) _mabos_reply "${(@f)$("$program" complete "$kind" "${(@)where}" -- "${(Q)PREFIX}" 2>/dev/null)}" ;;
  esac
}

_mabos_where() {
  case $1 in
    -w | --workspace) where+=(-w "$2") ;;
    -a | --agent) where+=(-a "$2") ;;
  esac
}

_mabos() {
  local at='' pending='' literal='' word kind more program number=0
  local -a subs opts args where names
  program=${${(Q)words[1]}/#\~/$HOME}
  (( $+commands[$program] )) || [[ -x $program ]] || program=mabos
  for word in "${(@Q)words[2,CURRENT-1]}"; do
@WALK@
      names=("${(@)subs%%$'\t'*}")
      if [[ $number == 0 && -n $word && ${names[(Ie)$word]} -gt 0 ]]; then
        at="${at:+$at }$word"
      else
        number=$((number + 1))
      fi
    fi
  done
  _mabos_spec "$at" "$pending"
  if [[ -n $pending ]]; then
    _mabos_offer
  elif [[ -z $literal && $PREFIX == --*=* ]]; then
    _mabos_spec "$at" "${PREFIX%%=*}"
    compset -P '*='
    _mabos_offer
  elif [[ -z $literal && $PREFIX == -* ]]; then
    _mabos_reply "${(@)opts}"
  elif [[ $number == 0 && $#subs -gt 0 ]]; then
    _mabos_reply "${(@)subs}"
  else
    kind=${args[number+1]:-$more}
    _mabos_offer
  fi
}

if [[ ${zsh_eval_context[-1]} == loadautofunc ]]; then
  _mabos "$@"
else
  compdef _mabos mabos
fi
