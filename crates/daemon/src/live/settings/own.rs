//! [`Own`]: identifies castellan's own hooks. It must not know their places of registration.

use std::path::{Path, PathBuf};

use castellan_agents::NamedHook;
use castellan_wire::HomeArgument;

/// castellan's own hook and paths.
#[derive(Debug, Clone, Default)]
pub(crate) struct Own {
    /// The hook program of this daemon; `None` if it is not known.
    pub(super) hook: Option<PathBuf>,
    /// Its files and folders, including the home; empty if they are not known.
    pub(super) paths: Vec<String>,
}

impl Own {
    /// Takes castellan's files and folders, including the home.
    pub(crate) fn of(paths: &[String]) -> Own {
        let hook = std::env::current_exe().ok().and_then(|own| real(&own.parent()?.join("castellan-hook")));
        Own { hook, paths: paths.to_vec() }
    }

    pub(super) fn is(&self, named: &NamedHook) -> bool {
        self.is_hook(&named.hook.program, &named.hook.home)
    }

    /// Reports whether this is this daemon's hook and asks this daemon. An unknown part of [`Own`] matches everything.
    pub(super) fn is_hook(&self, program: &str, home: &str) -> bool {
        let user = rustix::process::geteuid().as_raw();
        let reported = HomeArgument::parse(home.as_ref()).and_then(|reported| reported.of(user));
        let home = reported.as_ref().map_or(Path::new(home), |home| home.dir());
        let is_path = |home: &Path| self.paths.iter().any(|path| Path::new(path) == home);
        let is_home = |home: &Path| is_path(home) || real(home).is_some_and(|home| is_path(&home));
        (self.hook.is_none() || real(Path::new(program)) == self.hook)
            && (self.paths.is_empty() || is_home(home))
    }
}

/// Resolves a path.
pub(super) fn real(path: &Path) -> Option<PathBuf> {
    std::fs::canonicalize(path).ok()
}

#[cfg(test)]
mod tests {
    use castellan_wire::Home;

    use super::*;

    #[test]
    fn a_hook_of_every_user_asks_the_daemon_of_its_own() {
        let user = rustix::process::geteuid().as_raw();
        let own = Home::of_user(user).map(|home| home.dir().display().to_string());
        let check = |paths: &[&str], home: &str, expected: bool| {
            let own = Own { hook: None, paths: paths.iter().map(|path| (*path).to_owned()).collect() };
            assert_eq!(own.is_hook("/b/castellan-hook", home), expected, "{home} of {paths:?}");
        };
        check(&["/h"], "/h", true);
        check(&["/h"], "/g", false);
        check(&["/h"], &format!("{user}:/h"), true);
        check(&["/h"], &format!("{}:/h", user.wrapping_add(1)), false);
        check(&["/h"], "own", false);
        if let Some(own) = own {
            check(&[&own], "own", true);
            check(&[&own], &format!("{}:/h", user.wrapping_add(1)), true);
        }
    }
}
