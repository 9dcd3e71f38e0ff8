//! [`is_shell`]: the names of shells.

/// Shells with a language similar to bash's.
const SHELLS: &[&str] =
    &["bash", "sh", "dash", "zsh", "ksh", "ksh93", "mksh", "ash", "rbash", "rzsh", "yash", "hush", "lksh"];

/// Reports whether a program of this name is a shell.
pub(crate) fn is_shell(name: &str) -> bool {
    let name = name.strip_suffix(".exe").unwrap_or(name);
    SHELLS.contains(&name)
}
