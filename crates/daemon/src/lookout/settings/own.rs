//! [`Own`]: which hooks are castellan's own. It must not know where they are registered.

use std::path::{Path, PathBuf};

use castellan_agents::NamedHook;

/// What is castellan's.
#[derive(Debug, Clone, Default)]
pub(crate) struct Own {
    /// The hook that belongs to this daemon; `None` where that is not known.
    pub(super) hook: Option<PathBuf>,
    /// Its files and folders, the home among them; none where that is not known.
    pub(super) paths: Vec<String>,
}

impl Own {
    /// castellan's files and folders, the home among them.
    pub(crate) fn of(paths: &[String]) -> Own {
        let hook = std::env::current_exe().ok().and_then(|own| real(&own.parent()?.join("castellan-hook")));
        Own { hook, paths: paths.to_vec() }
    }

    pub(super) fn is(&self, named: &NamedHook) -> bool {
        self.is_hook(&named.hook.program, &named.hook.home)
    }

    /// Whether it is this daemon's hook and asks this daemon, as far as it is known which those are.
    pub(super) fn is_hook(&self, program: &str, home: &str) -> bool {
        let is_home = |home: &str| self.paths.iter().any(|path| path == home);
        let is_real_home = || real(Path::new(home)).is_some_and(|home| home.to_str().is_some_and(is_home));
        (self.hook.is_none() || real(Path::new(program)) == self.hook)
            && (self.paths.is_empty() || is_home(home) || is_real_home())
    }
}

/// Where a path really leads.
pub(super) fn real(path: &Path) -> Option<PathBuf> {
    std::fs::canonicalize(path).ok()
}
