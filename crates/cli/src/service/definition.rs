//! [`Definition`]: everything that the files of a service are made of. It must not know a service manager.

use std::path::{Path, PathBuf};

use anyhow::Context;
use castellan_daemon::{Config, Layout};
use castellan_event::PartsHash;
use castellan_policy::Presence;
use castellan_wire::Home;

use crate::directories::Directories;
use crate::in_force::InForce;
use crate::launch;

/// Letters of the hash in the name of the service of a home other than the default one.
const HASH_CHARS: usize = 8;

/// The daemon of one home as a service.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Definition {
    /// `castellan`, or for another home than the default one `castellan-` and a hash of its path.
    pub(crate) name: String,
    pub(crate) program: PathBuf,
    pub(crate) home: Home,
}

/// The rights of the daemon as a service.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Rights {
    /// As few as the manager can leave.
    Few,
    /// It starts the system's program that checks passwords, which needs more rights than the daemon.
    Passwords,
}

impl Definition {
    /// Returns the service of a home, by the program that runs now.
    pub(crate) fn of(home: &Home) -> anyhow::Result<Definition> {
        Ok(Definition { name: name(home.dir())?, program: launch::beside("castellan")?, home: home.clone() })
    }
}

impl Rights {
    /// Returns the rights that the settings need: those in force, and those on disk. These can come into force only once
    /// the daemon has the rights to check a password.
    pub(crate) fn of(layout: &Layout) -> Rights {
        let is_password = |config: &Config| config.settings.presence == Presence::Password;
        let in_force = InForce::read(layout).is_ok_and(|set| is_password(&set.config));
        match in_force || Config::of_home(layout).is_ok_and(|config| is_password(&config)) {
            true => Rights::Passwords,
            false => Rights::Few,
        }
    }
}

fn name(dir: &Path) -> anyhow::Result<String> {
    if dir == Directories::of_environment()?.data.join("castellan") {
        return Ok("castellan".to_owned());
    }
    let path = dir.to_str().with_context(|| format!("`{}` is not UTF-8", dir.display()))?;
    let hash = PartsHash::of([path]).hex();
    Ok(format!("castellan-{}", hash.get(..HASH_CHARS).unwrap_or_default()))
}
