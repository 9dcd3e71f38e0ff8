//! The environment of a command in a sandbox: listed variables only.

use std::ffi::{OsStr, OsString};

use crate::run::COMMON_VARIABLES;

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

/// The beginning of the names of variables for parts of a language.
const LANGUAGE: &str = "LC_";

/// Returns the variables of this process that every command may have, and those with further names.
pub(crate) fn variables(further: &[String]) -> Vec<(OsString, OsString)> {
    let is_listed = |name: &OsStr| {
        let Some(name) = name.to_str() else { return false };
        name.starts_with(LANGUAGE)
            || [COMMON_VARIABLES, TOOLS].concat().contains(&name)
            || further.iter().any(|further| further == name)
    };
    std::env::vars_os().filter(|(name, _)| is_listed(name)).collect()
}
