//! Caches that a sandbox must have itself. It must not know how the kernel enforces a policy.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// Caches of programs that fail where they cannot write them: the variable, the place in the home without it, and the name of the
/// sandbox's own. cargo's has no such variable: its directory also holds its configuration.
const CACHES: &[(&str, &str, &str)] = &[
    ("npm_config_cache", ".npm", "npm"),
    ("YARN_CACHE_FOLDER", ".cache/yarn", "yarn"),
    ("PIP_CACHE_DIR", ".cache/pip", "pip"),
    ("UV_CACHE_DIR", ".cache/uv", "uv"),
    ("GOCACHE", ".cache/go-build", "go-build"),
];

/// Returns the caches that the sandbox must have itself: those in no writable directory. A command could fill the user's own
/// with what programs outside run later.
pub(super) fn caches(user_home: &Path, writable: &[PathBuf]) -> Vec<(OsString, OsString)> {
    let is_writable = |place: &str| writable.iter().any(|root| user_home.join(place).starts_with(root));
    let own = CACHES.iter().filter(|(_, place, _)| !is_writable(place));
    own.map(|(variable, _, name)| (variable.into(), name.into())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cache_in_a_writable_directory_stays() {
        let home = Path::new("/home/u");
        let has = |writable: &[&str], name: &str| {
            let writable: Vec<PathBuf> = writable.iter().map(PathBuf::from).collect();
            caches(home, &writable).iter().any(|(known, _)| known == name)
        };
        assert!(has(&["/home/u/work"], "npm_config_cache") && has(&[], "GOCACHE"));
        assert!(!has(&["/home/u/.npm"], "npm_config_cache"));
        assert!(has(&["/home/u/.npm"], "GOCACHE") && !has(&["/home/u/.cache"], "GOCACHE"));
    }
}
