//! The shells that a program name or a setting stands for. This module must not know what a shell does.

use castellan_programs::base_name;

use crate::syntax::Shell;
use crate::syntax::Shell::{Bash, Ksh, Posix, Zsh};

/// `sh` is dash on Debian, bash on macOS and Red Hat, and another shell elsewhere.
pub const SH: &[Shell] = &[Bash, Posix];

/// Shells with a language similar to bash's. The first one runs more than the ones after it.
const SHELLS: &[(&str, &[Shell])] = &[
    ("ash", SH),
    ("bash", &[Bash]),
    ("dash", &[Posix]),
    ("hush", &[Posix]),
    ("ksh", &[Ksh]),
    ("ksh93", &[Ksh]),
    ("lksh", &[Ksh]),
    ("mksh", &[Ksh]),
    ("rbash", &[Bash]),
    ("rksh", &[Ksh]),
    ("rzsh", &[Zsh]),
    ("sh", SH),
    ("yash", &[Posix]),
    ("zsh", &[Zsh]),
];

/// Returns the shells that a program of this name may be; none if it is no shell.
pub(crate) fn shells(name: &str) -> &'static [Shell] {
    let name = name.strip_suffix(".exe").unwrap_or(name);
    SHELLS.iter().find(|(one, _)| *one == name).map_or(&[], |(_, shells)| *shells)
}

/// Reports whether a program of this name is a shell.
pub(crate) fn is_shell(name: &str) -> bool {
    !shells(name).is_empty()
}

/// Returns the shells that an agent may start if the variable `SHELL` has this value. Agents start bash or zsh.
pub fn agent_shells(variable: Option<&str>) -> &'static [Shell] {
    match variable.map(base_name) {
        Some("bash") => &[Bash],
        Some("zsh") => &[Zsh],
        Some(_) | None => &[Bash, Zsh],
    }
}
