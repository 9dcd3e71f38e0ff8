//! Builtins of the shell that only steer it: they are inside every plan. Their redirections are effects, which are
//! checked.

use castellan_event::Command;

/// Builtins, each with the reason: it starts no program and changes nothing outside of this shell.
const STEERING: &[(&str, &str)] = &[
    (":", "does nothing"),
    ("[", "tests a condition"),
    ("[[", "tests a condition"),
    ("break", "leaves a loop"),
    ("cd", "changes the directory; the effects after it have the paths from there"),
    ("continue", "goes on with a loop"),
    ("declare", "sets a variable of the shell"),
    ("dirs", "prints directories"),
    ("echo", "prints its arguments"),
    ("exit", "ends the shell"),
    ("export", "sets a variable; one that changes programs is an effect of its own"),
    ("false", "returns 1"),
    ("getopts", "reads the arguments of a script"),
    ("let", "computes a number"),
    ("local", "sets a variable of a function"),
    ("popd", "changes the directory, like `cd`"),
    ("printf", "prints its arguments"),
    ("pushd", "changes the directory, like `cd`"),
    ("pwd", "prints the directory"),
    ("read", "reads its input into a variable"),
    ("readonly", "sets a variable of the shell"),
    ("return", "leaves a function"),
    ("set", "sets options of this shell"),
    ("shift", "drops an argument of a script"),
    ("shopt", "sets options of this shell"),
    ("test", "tests a condition"),
    ("true", "returns 0"),
    ("type", "prints how a name is found"),
    ("typeset", "sets a variable of the shell"),
    ("umask", "sets permissions of files that the shell creates"),
    ("unset", "removes a variable of the shell"),
    ("wait", "waits for the end of a job"),
];

/// Reports whether a command is such a builtin. A program of the same name has a path, and one on another machine is
/// no builtin of this shell.
pub(crate) fn is_steering(command: &Command) -> bool {
    let name = command.name.as_deref().unwrap_or_default();
    command.path.is_none()
        && command.remote.is_none()
        && STEERING.binary_search_by(|(word, _)| (*word).cmp(name)).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_in_order() {
        assert!(STEERING.is_sorted_by(|(one, _), (next, _)| one < next));
    }

    #[test]
    fn only_builtins_of_this_shell_steer() {
        let of = |name: &str, path: Option<&str>, remote: Option<&str>| Command {
            name: Some(name.to_owned()),
            path: path.map(str::to_owned),
            remote: remote.map(str::to_owned),
            ..Command::default()
        };
        for (command, expected) in [
            (of("cd", None, None), true),
            (of("[", None, None), true),
            (of("wait", None, None), true),
            (of("eval", None, None), false),
            (of("kill", None, None), false),
            (of("echo", Some("/w/echo"), None), false),
            (of("echo", None, Some("ssh host")), false),
        ] {
            assert_eq!(is_steering(&command), expected, "{command:?}");
        }
    }
}
