
# Request ids: those that wait for `approve`, those of the log for the other commands.
complete -c castellan -n "__fish_castellan_using_subcommand approve" -f -a "(castellan request-ids --pending 2> /dev/null)"
complete -c castellan -n "__fish_castellan_using_subcommand refuse" -f -a "(castellan request-ids 2> /dev/null)"
complete -c castellan -n "__fish_castellan_using_subcommand why" -f -a "(castellan request-ids 2> /dev/null)"
complete -c castellan -n "__fish_castellan_using_subcommand log" -l request -x -a "(castellan request-ids 2> /dev/null)"
complete -c castellan -n "__fish_castellan_using_subcommand rules; and __fish_seen_subcommand_from new" -l from-log -x -a "(castellan request-ids 2> /dev/null)"
