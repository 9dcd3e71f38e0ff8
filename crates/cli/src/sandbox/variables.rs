//! The environment of a command in a sandbox: listed variables only.

use std::ffi::{OsStr, OsString};

use crate::variables::is_common;

/// Variables of tools of development: the places of their installations.
const TOOLS: &[&str] = &[
    "CARGO_HOME",
    "RUSTUP_HOME",
    "RUSTUP_TOOLCHAIN",
    "GOPATH",
    "GOROOT",
    "GOCACHE",
    "GOMODCACHE",
    "JAVA_HOME",
    "GRADLE_USER_HOME",
    "M2_HOME",
    "NVM_DIR",
    "NVM_BIN",
    "PNPM_HOME",
    "PYENV_ROOT",
    "RBENV_ROOT",
    "GEM_HOME",
    "VIRTUAL_ENV",
    "CONDA_PREFIX",
    "DOTNET_ROOT",
    "CC",
    "CXX",
    "CI",
    "EDITOR",
    "SHELL",
    "SHLVL",
    "PWD",
];

/// Returns the variables of this process that every command may have, and those with further names.
pub(crate) fn variables(further: &[String]) -> Vec<(OsString, OsString)> {
    let is_listed = |name: &OsStr| {
        let Some(name) = name.to_str() else { return false };
        is_common(name) || TOOLS.contains(&name) || further.iter().any(|further| further == name)
    };
    std::env::vars_os().filter(|(name, _)| is_listed(name)).collect()
}

/// Returns the variables of tools of development among others.
pub(crate) fn tools(all: &[(OsString, OsString)]) -> impl Iterator<Item = (OsString, OsString)> {
    all.iter().filter(|(name, _)| name.to_str().is_some_and(|name| TOOLS.contains(&name))).cloned()
}
