"""The parts of the completion scripts that are the same whatever the program can do: how each shell walks the table."""

# The function that is the table, in the language that bash and zsh share.
_TABLE = r"""# What may follow the command $1: subs, opts and args (more: what comes again), and in kind what the option $2 takes.
_mabos_spec() {
  subs=() opts=() args=() more='' kind=''
  case $1 in
@SPEC@
  esac
  opts+=(@OPTIONS@)
  if [[ -z $kind ]]; then
      case $2 in
@VALUES@
      esac
  fi
}

"""

BASH = (
    r"""# bash completion for mabos, made by: mabos completion bash

"""
    + _TABLE
    + r"""# A word of the line as the program would get it, as far as that needs no evaluation.
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
    if [[ -n $pending ]]; then
      _mabos_where "$pending" "$word"
      pending=''
    elif [[ -n $literal ]]; then
      number=$((number + 1))
    elif [[ $word == -- ]]; then
      literal=1
    elif [[ $word == --*=* ]]; then
      _mabos_where "${word%%=*}" "${word#*=}"
    elif [[ $word == -?* ]]; then
      _mabos_spec "$at" "$word"
      [[ -n $kind ]] && pending=$word
    else
      _mabos_spec "$at"
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
"""
)

ZSH = (
    r"""#compdef mabos
# zsh completion for mabos, made by: mabos completion zsh

"""
    + _TABLE
    + r"""# Offers lines of a word, a tab and what it means, in their order.
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
    if [[ -n $pending ]]; then
      _mabos_where "$pending" "$word"
      pending=''
    elif [[ -n $literal ]]; then
      number=$((number + 1))
    elif [[ $word == -- ]]; then
      literal=1
    elif [[ $word == --*=* ]]; then
      _mabos_where "${word%%=*}" "${word#*=}"
    elif [[ $word == -?* ]]; then
      _mabos_spec "$at" "$word"
      [[ -n $kind ]] && pending=$word
    else
      _mabos_spec "$at"
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
"""
)

FISH = r"""# fish completion for mabos, made by: mabos completion fish

# What may follow the command $at: subs, opts and args (more: what comes again), and in kind what $option takes. The
# variables are the caller's.
function __mabos_spec --no-scope-shadowing
    set subs
    set opts
    set args
    set more ''
    set kind ''
    switch "$at"
@SPEC@
    end
    set -a opts @OPTIONS@
    if test -z "$kind"
            switch "$option"
@VALUES@
            end
    end
end

# Prints what is offered for $kind, behind $lead. The variables are the caller's.
function __mabos_offer --no-scope-shadowing
    switch "$kind"
        case any ''
        case files
            complete -C "'' $raw" | string replace -r '^' -- "$lead"
        case folders
            complete -C "'' $raw" | string match -r '^[^\t]*/(?=\t|$)' | string replace -r '^' -- "$lead"
        case '=*'
            string sub -s 2 -- $kind | string split \n | string replace -r '^' -- "$lead"
        case '*'
            $program complete $kind $where -- "$cur" 2>/dev/null | string replace -r '^' -- "$lead"
    end
end

function __mabos_where --no-scope-shadowing
    switch "$pending"
        case -w --workspace
            set -a where -w $word
        case -a --agent
            set -a where -a $word
    end
end

function __mabos_complete
    set -l raw (commandline -ct)
    set -l cur (string unescape -- "$raw"; or printf %s "$raw")
    set -l typed (commandline -opc)
    set -l program (string replace -r '^~' -- $HOME $typed[1])
    command -q $program; or set program mabos
    set -e typed[1]
    set -l at ''
    set -l pending ''
    set -l literal ''
    set -l option ''
    set -l lead ''
    set -l number 1
    set -l subs
    set -l opts
    set -l args
    set -l more
    set -l kind
    set -l where
    for word in $typed
        if test -n "$pending"
            __mabos_where
            set pending ''
        else if test -n "$literal"
            set number (math $number + 1)
        else if test "$word" = --
            set literal 1
        else if string match -q -- '--*=*' $word
            string split -m 1 = -- $word | read -L pending word
            __mabos_where
            set pending ''
        else if string match -q -- '-?*' $word
            set option $word
            __mabos_spec
            test -n "$kind"; and set pending $word
        else
            set option ''
            __mabos_spec
            if test $number = 1; and string match -q -- "$word"\t'*' $subs
                set at (string trim -- "$at $word")
            else
                set number (math $number + 1)
            end
        end
    end
    set option $pending
    __mabos_spec
    if test -n "$pending"
        __mabos_offer
    else if test -z "$literal"; and string match -q -- '--*=*' $cur
        string split -m 1 = -- $cur | read -L option cur
        set lead "$option="
        set raw (string replace -- "$lead" '' "$raw")
        __mabos_spec
        __mabos_offer
    else if test -z "$literal"; and string match -q -- '-*' $cur
        printf '%s\n' $opts
    else if test $number = 1; and set -q subs[1]
        printf '%s\n' $subs
    else
        set kind $more
        set -q args[$number]; and set kind $args[$number]
        __mabos_offer
    end
end

complete -k -c mabos -f -a '(__mabos_complete)'
"""
