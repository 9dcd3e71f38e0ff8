
# The `--home` of the line, as an option. Expansions other than `~` stay unknown: completing a line must not run it.
_castellan_home() {
    local at word home=
    for ((at = 1; at < ${#COMP_WORDS[@]}; at++)); do
        [[ ${COMP_WORDS[at]} == --home ]] || continue
        word="${COMP_WORDS[at + 1]}"
        # bash splits `--home=DIR` into three words.
        [[ $word == = ]] && word="${COMP_WORDS[at + 2]}"
        home="${word//[\"\'\\]/}"
    done
    [[ $home ]] && printf '%s' "--home=${home/#\~\//$HOME/}"
}

# Request ids: those that wait for `approve`, those of the log for the other commands.
_castellan_request_ids() {
    _castellan "$@"
    local cur="${COMP_WORDS[COMP_CWORD]}" pending= home
    [[ $cur == -* ]] && return
    case "${COMP_WORDS[COMP_CWORD - 1]}" in
        approve) pending=--pending ;;
        refuse | undo | diff | keep | why | --request | --from-log) ;;
        *) return ;;
    esac
    home="$(_castellan_home)"
    COMPREPLY=($(castellan ${home:+"$home"} request-ids $pending -- "$cur" 2> /dev/null))
}

if [[ "${BASH_VERSINFO[0]}" -eq 4 && "${BASH_VERSINFO[1]}" -ge 4 || "${BASH_VERSINFO[0]}" -gt 4 ]]; then
    complete -F _castellan_request_ids -o nosort -o bashdefault -o default castellan
else
    complete -F _castellan_request_ids -o bashdefault -o default castellan
fi
