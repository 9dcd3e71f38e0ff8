//! [`Directories`]: a user's directories by the XDG base directory specification 0.8. As specified, relative paths in
//! the environment are ignored.

use std::ffi::OsString;
use std::path::PathBuf;

use anyhow::Context;

use crate::platform::{Account, account};

/// The directories of one user.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Directories {
    pub(crate) home: PathBuf,
    pub(crate) config: PathBuf,
    pub(crate) data: PathBuf,
    pub(crate) state: PathBuf,
}

impl Directories {
    /// Returns the directories of the user of this process.
    pub(crate) fn of_environment() -> anyhow::Result<Directories> {
        let home = absolute(std::env::var_os("HOME"))
            .or_else(|| account(rustix::process::getuid().as_raw()).map(|account| account.home));
        let home = home.context("the home directory is unknown: set `HOME`, or give `--home`")?;
        Ok(Directories::new(home, |name| std::env::var_os(name)))
    }

    /// Returns the default directories of another user, whose environment is unknown.
    pub(crate) fn of_account(account: &Account) -> Directories {
        Directories::new(account.home.clone(), |_| None)
    }

    fn new(home: PathBuf, variable: impl Fn(&str) -> Option<OsString>) -> Directories {
        let place =
            |name: &str, default: &str| absolute(variable(name)).unwrap_or_else(|| home.join(default));
        Directories {
            config: place("XDG_CONFIG_HOME", ".config"),
            data: place("XDG_DATA_HOME", ".local/share"),
            state: place("XDG_STATE_HOME", ".local/state"),
            home,
        }
    }
}

pub(crate) fn absolute(path: Option<OsString>) -> Option<PathBuf> {
    path.map(PathBuf::from).filter(|path| path.is_absolute())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn relative_and_missing_variables_give_the_defaults() {
        let check = |variables: &[(&str, &str)], expected: [&str; 3]| {
            let find = |name: &str| {
                variables.iter().find(|(n, _)| *n == name).map(|(_, value)| OsString::from(value))
            };
            let got = Directories::new("/h".into(), find);
            let [config, data, state] = expected.map(PathBuf::from);
            assert_eq!(got, Directories { home: "/h".into(), config, data, state }, "{variables:?}");
        };
        check(&[], ["/h/.config", "/h/.local/share", "/h/.local/state"]);
        check(
            &[("XDG_CONFIG_HOME", "/c"), ("XDG_STATE_HOME", "s")],
            ["/c", "/h/.local/share", "/h/.local/state"],
        );
        check(&[("XDG_DATA_HOME", "")], ["/h/.config", "/h/.local/share", "/h/.local/state"]);
    }
}
