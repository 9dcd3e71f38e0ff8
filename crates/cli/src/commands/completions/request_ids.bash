
# Request ids: those that wait for `approve`, those of the log for the other commands.
_castellan_request_ids() {
    _castellan "$@"
    local cur="${COMP_WORDS[COMP_CWORD]}" pending=
    [[ $cur == -* ]] && return
    case "${COMP_WORDS[COMP_CWORD - 1]}" in
        approve) pending=--pending ;;
        refuse | why | --request | --from-log) ;;
        *) return ;;
    esac
    COMPREPLY=($(castellan request-ids $pending -- "$cur" 2> /dev/null))
}

if [[ "${BASH_VERSINFO[0]}" -eq 4 && "${BASH_VERSINFO[1]}" -ge 4 || "${BASH_VERSINFO[0]}" -gt 4 ]]; then
    complete -F _castellan_request_ids -o nosort -o bashdefault -o default castellan
else
    complete -F _castellan_request_ids -o bashdefault -o default castellan
fi
