# bash completion for mabos, made by: mabos completion bash

@TABLE@

# A word of the line as the program would get it, as far as that needs no evaluation.
_mabos_bare() {
  case $1 in
    [\'\"]*) bare=${1:1} bare=${bare%"${1:0:1}"} ;;
    *) bare=${1//\\/} ;;
  esac
}

# The words of the line up to the cursor in parts: bash cuts them at = and : as well, which are no ends here.
_mabos_parts() {
  local rest=$COMP_LINE word trimmed number
  for ((number = 0; number <= COMP_CWORD; number++)); do
    word=${COMP_WORDS[number]}
    trimmed=${rest#"${rest%%[![:space:]]*}"}
    if ((number)) && [[ $trimmed == "$rest" && -n $word ]]; then
      parts[-1]+=$word
    else
      parts+=("$word")
    fi
    rest=${trimmed#"$word"}
  done
}

# Offers the words in the array found that go on from cur, without what bash will not replace.
_mabos_reply() {
  local word lead=${cur%"$last"} # of one word, such as the tag a:b, the part up to the colon
  for word in "${found[@]}"; do
    word=${word%%$'\t'*}
    [[ -n $word && $word == "$bare"* ]] || continue
    [[ $cur == [\'\"]* ]] || printf -v word %q "$word"
    COMPREPLY+=("${word#"$lead"}")
  done
  [[ ${COMPREPLY[*]} != */ ]] || compopt -o nospace
}

_mabos_offer() {
  local -a found=()
  case $kind in
    any | '') return ;;
    files) compopt -o default; return ;;
    folders) compopt -o dirnames; return ;;
    '='*) mapfile -t found <<<"${kind#=}" ;;
    *) mapfile -t found < <("$program" complete "$kind" "${where[@]}" -- "$bare" 2>/dev/null) ;;
  esac
  _mabos_reply
}

_mabos_where() {
  _mabos_bare "$2"
  case $1 in
    -w | --workspace) where+=(-w "$bare") ;;
    -a | --agent) where+=(-a "$bare") ;;
  esac
}

_mabos() {
  local at='' pending='' literal='' word cur last=$2 bare kind more program number=0
  local -a parts=() subs opts args where=() found
  COMPREPLY=()
  [[ $last == [=:] ]] && last=''
  _mabos_parts
  program=$(type -P -- "${parts[0]/#\~/$HOME}") || program=mabos
  cur=${parts[-1]}
  for word in "${parts[@]:1:${#parts[@]}-2}"; do
@WALK@
      if [[ $number == 0 && " ${subs[*]} " == *" $word "* ]]; then
        at="${at:+$at }$word"
      else
        number=$((number + 1))
      fi
    fi
  done
  if [[ -z $pending$literal && $cur == --*=* ]]; then
    _mabos_spec "$at" "${cur%%=*}"
    [[ $last == --*=* ]] && COMPREPLY=() && return
    cur=${cur#*=}
    _mabos_bare "$cur"
    _mabos_offer
    return
  fi
  _mabos_bare "$cur"
  _mabos_spec "$at" "$pending"
  if [[ -n $pending ]]; then
    _mabos_offer
  elif [[ -z $literal && $cur == -* ]]; then
    found=("${opts[@]}")
    _mabos_reply
  elif [[ $number == 0 && ${#subs[@]} -gt 0 ]]; then
    found=("${subs[@]}")
    _mabos_reply
  else
    kind=${args[number]:-$more}
    _mabos_offer
  fi
}

complete -o nosort -F _mabos mabos 2>/dev/null || complete -F _mabos mabos
