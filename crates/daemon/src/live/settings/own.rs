//! [`Own`]: identifies castellan's own hooks. It must not know their places of registration.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use castellan_files::Guard;
use castellan_wire::HomeArgument;

use super::super::watched::{Stamp, stamp};
use crate::sight;

/// castellan's own hook and paths.
#[derive(Debug, Clone, Default)]
pub(crate) struct Own {
    /// The hook program of this daemon; `None` if it is not known.
    pub(super) hook: Option<PathBuf>,
    /// Its files and folders, including the home; empty if they are not known.
    pub(super) paths: Vec<String>,
    /// The compared programs with equal size, and if each is a copy of `hook`.
    pub(super) copies: Arc<Mutex<HashMap<PathBuf, (Stamp, bool)>>>,
}

impl Own {
    /// Takes castellan's files and folders, including the home.
    pub(crate) fn of(paths: &[String]) -> Own {
        let hook = std::env::current_exe().ok().and_then(|own| real(&own.parent()?.join("castellan-hook")));
        Own { hook, paths: paths.to_vec(), ..Own::default() }
    }

    /// Reports whether this is this daemon's hook and asks this daemon. An unknown part of [`Own`] matches everything.
    pub(super) fn is_hook(&self, program: &str, home: &str) -> bool {
        let user = sight::user();
        let reported = HomeArgument::parse(home.as_ref()).and_then(|reported| reported.of(user));
        let home = reported.as_ref().map_or(Path::new(home), |home| home.dir());
        let is_path = |home: &Path| self.paths.iter().any(|path| Path::new(path) == home);
        let is_home = |home: &Path| is_path(home) || real(home).is_some_and(|home| is_path(&home));
        self.is_program(Path::new(program)) && (self.paths.is_empty() || is_home(home))
    }

    /// Reports whether this is this daemon's hook program, or a copy of it: a plugin brings its own.
    pub(super) fn is_program(&self, program: &Path) -> bool {
        let Some(hook) = &self.hook else { return true };
        real(program).is_some_and(|found| found == *hook || self.is_copy(&found, hook))
    }

    fn is_copy(&self, found: &Path, hook: &Path) -> bool {
        let (Ok(Some(now)), Ok(Some(own))) = (stamp(found), stamp(hook)) else { return false };
        // A hard link.
        if now == own {
            return true;
        }
        let size = |stamp: Stamp| stamp.2;
        if size(now) != size(own) {
            return false;
        }
        let mut copies = self.copies.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, is_copy)) = copies.get(found).filter(|(then, _)| *then == now) {
            return *is_copy;
        }
        let read = |path: &Path| sight::read_bytes(path, size(own), Guard::Any).ok();
        let is_copy = read(found).is_some_and(|bytes| read(hook).is_some_and(|own| own == bytes));
        copies.insert(found.to_owned(), (now, is_copy));
        is_copy
    }
}

/// Resolves a path.
pub(super) fn real(path: &Path) -> Option<PathBuf> {
    sight::canonicalize(path).ok()
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
            let paths_of = paths.iter().map(|path| (*path).to_owned()).collect();
            let own = Own { paths: paths_of, ..Own::default() };
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
