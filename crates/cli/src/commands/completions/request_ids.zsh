
# Request ids: those that wait for `approve`, those of the log for the other commands.
_castellan_request_ids() {
    local -a ids pending
    [[ $words[1] == approve ]] && pending=(--pending)
    ids=(${(f)"$(castellan request-ids $pending -- "$PREFIX" 2> /dev/null)"})
    (( $#ids )) && compadd -U -- $ids
}
