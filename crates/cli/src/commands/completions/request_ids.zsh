
# Request ids: those that wait for `approve`, those of the log for the other commands. `whole` are the words of the line.
_castellan_request_ids() {
    local -a ids pending home
    local at
    [[ $words[1] == approve ]] && pending=(--pending)
    for ((at = 2; at <= $#whole; at++)); do
        case $whole[at] in
            --home) home=("--home=${${(Q)whole[at + 1]}/#\~\//$HOME/}") ;;
            --home=*) home=("--home=${${(Q)whole[at]#--home=}/#\~\//$HOME/}") ;;
        esac
    done
    ids=(${(f)"$(castellan $home request-ids $pending -- "$PREFIX" 2> /dev/null)"})
    (( $#ids )) && compadd -U -- $ids
}
