
# The `--home` of the line, as an option.
function __fish_castellan_home
    set -l words (commandline -opc)
    set -l home
    for at in (seq (count $words))
        switch $words[$at]
            case --home
                set home $words[(math $at + 1)]
            case '--home=*'
                set home (string replace -- --home= '' $words[$at])
        end
    end
    test -n "$home"
    and string replace -r -- '^~/' $HOME/ $home | string replace -r -- '^' --home=
end

# Request ids: those that wait for `approve`, those of the log for the other commands.
complete -c castellan -n "__fish_castellan_using_subcommand approve" -f -a "(castellan (__fish_castellan_home) request-ids --pending 2> /dev/null)"
complete -c castellan -n "__fish_castellan_using_subcommand refuse" -f -a "(castellan (__fish_castellan_home) request-ids 2> /dev/null)"
complete -c castellan -n "__fish_castellan_using_subcommand undo" -f -a "(castellan (__fish_castellan_home) request-ids 2> /dev/null)"
complete -c castellan -n "__fish_castellan_using_subcommand diff" -f -a "(castellan (__fish_castellan_home) request-ids 2> /dev/null)"
complete -c castellan -n "__fish_castellan_using_subcommand keep" -f -a "(castellan (__fish_castellan_home) request-ids 2> /dev/null)"
complete -c castellan -n "__fish_castellan_using_subcommand why" -f -a "(castellan (__fish_castellan_home) request-ids 2> /dev/null)"
complete -c castellan -n "__fish_castellan_using_subcommand log" -l request -x -a "(castellan (__fish_castellan_home) request-ids 2> /dev/null)"
complete -c castellan -n "__fish_castellan_using_subcommand rules; and __fish_seen_subcommand_from new" -l from-log -x -a "(castellan (__fish_castellan_home) request-ids 2> /dev/null)"
