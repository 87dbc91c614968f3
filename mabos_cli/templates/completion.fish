# fish completion for mabos, made by: mabos completion fish

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
