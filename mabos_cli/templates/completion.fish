# fish completion for mabos, printed by: mabos completion fish

function __mabos_complete
    set -l raw (commandline -ct)
    set -l cur (string unescape -- "$raw"; or printf %s "$raw")
    set -l typed (commandline -opc)
    set -l program (string replace -r '^~' -- $HOME $typed[1])
    command -q $program; or set program mabos
    set -l lead ''
    string match -q -- '--*=*' $cur; and set lead (string replace -r '=.*' = -- $cur)
    set raw (string replace -- "$lead" '' "$raw")
    set -l found ($program complete words -- $typed[2..] "$cur" 2>/dev/null)
    switch "$found[1]"
        case :files
            complete -C "'' $raw" | string replace -r '^' -- "$lead"
        case :folders
            complete -C "'' $raw" | string match -r '^[^\t]*/(?=\t|$)' | string replace -r '^' -- "$lead"
        case '*'
            printf '%s\n' $found | string replace -r '^' -- "$lead"
    end
end

complete -k -c mabos -f -a '(__mabos_complete)'
