//! Directories that checkpoints leave out: a tool makes them again, or they hold version control's own data. Each has a
//! fixed name; names that people use otherwise need a witness. An agent can choose names, so a directory without a row here
//! is never left out.

use std::ffi::OsStr;

use serde::{Deserialize, Serialize};

/// The directories that a checkpoint leaves out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Leaves {
    /// None.
    Nothing,
    /// Those that a tool makes again.
    Generated,
    /// Also the data of version control.
    GeneratedAndHistory,
}

/// A directory that is left out.
struct LeftOut {
    name: &'static str,
    /// It holds the data of version control.
    is_history: bool,
    /// It is left out only if one of these is beside it; empty: always.
    beside: &'static [&'static str],
}

const LEFT_OUT: &[LeftOut] = &[
    // Version control. Checkpoints must not change index, branches and history.
    history(".git"),
    history(".hg"),
    history(".jj"),
    history(".svn"),
    // Installed packages.
    generated("node_modules", &["package.json"]),
    generated(".venv", &[]),
    generated("venv", &["pyproject.toml", "requirements.txt", "setup.py"]),
    generated("vendor", &["composer.lock"]),
    generated(".bundle", &["Gemfile"]),
    generated("deps", &["mix.exs"]),
    // Build output.
    generated("target", &["Cargo.toml", "pom.xml", "build.sbt"]),
    generated(".gradle", &[]),
    generated("_build", &["mix.exs", "dune-project"]),
    generated(".next", &["package.json"]),
    generated(".nuxt", &["package.json"]),
    generated(".turbo", &["package.json"]),
    generated(".svelte-kit", &["package.json"]),
    // Caches.
    generated("__pycache__", &[]),
    generated(".mypy_cache", &[]),
    generated(".pytest_cache", &[]),
    generated(".ruff_cache", &[]),
    generated(".tox", &[]),
];

const fn history(name: &'static str) -> LeftOut {
    LeftOut { name, is_history: true, beside: &[] }
}

const fn generated(name: &'static str, beside: &'static [&'static str]) -> LeftOut {
    LeftOut { name, is_history: false, beside }
}

/// Reports whether a checkpoint leaves a directory out. `has` reports whether an entry is beside it.
pub(crate) fn is_left_out(leaves: Leaves, name: &OsStr, has: impl Fn(&OsStr) -> bool) -> bool {
    let may_be = |row: &LeftOut| match leaves {
        Leaves::Nothing => false,
        Leaves::Generated => !row.is_history,
        Leaves::GeneratedAndHistory => true,
    };
    let is_witnessed =
        |row: &LeftOut| row.beside.is_empty() || row.beside.iter().any(|beside| has(OsStr::new(beside)));
    LEFT_OUT.iter().any(|row| may_be(row) && OsStr::new(row.name) == name && is_witnessed(row))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_that_people_use_needs_a_witness() {
        for (name, beside, generated, all) in [
            (".git", "", false, true),
            ("node_modules", "package.json", true, true),
            ("node_modules", "README.md", false, false),
            ("target", "Cargo.toml", true, true),
            ("target", "", false, false),
            ("src", "Cargo.toml", false, false),
            ("Target", "Cargo.toml", false, false),
        ] {
            let found = |leaves| is_left_out(leaves, OsStr::new(name), |other| other == OsStr::new(beside));
            assert!(!found(Leaves::Nothing), "{name} beside {beside:?}");
            assert_eq!(found(Leaves::Generated), generated, "{name} beside {beside:?}");
            assert_eq!(found(Leaves::GeneratedAndHistory), all, "{name} beside {beside:?}");
        }
    }
}
