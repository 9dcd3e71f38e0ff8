//! `castellan uninstall --system`: takes back an installation for the system, for some users or for all. Homes are set aside,
//! or deleted with `--purge`. Each step leaves what is already gone, so a second run completes an interrupted one.

use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use castellan_agents::AgentId;

use super::{Undone, write};
use crate::exit::Exit;
use crate::global::Global;
use crate::launch;
use crate::platform::account_named;
use crate::presence;
use crate::registration::Registration;
use crate::service::files::{is_ours, put, remove};
use crate::system::{self, DAEMON, FOLDERS_FILE, Places, ran};

/// Options of `castellan uninstall --system`.
#[derive(Debug, clap::Args)]
pub(super) struct SystemOptions {
    /// Take back an installation for the system (needs root)
    #[arg(long, conflicts_with_all = ["agents", "managed", "launchers"])]
    system: bool,

    /// A user who is no longer guarded; may be repeated; default: all
    #[arg(long = "user", value_name = "NAME", requires = "system")]
    users: Vec<String>,
}

impl SystemOptions {
    pub(super) fn is_asked(&self) -> bool {
        self.system
    }
}

pub(super) fn run(global: &Global, options: &super::Options) -> anyhow::Result<Exit> {
    let places = Places::below(Path::new("/"));
    let guarded = places.users()?;
    let named: Vec<u32> =
        options.system.users.iter().map(|name| user(name)).collect::<anyhow::Result<_>>()?;
    let is_leaving = |user: &u32| named.is_empty() || named.contains(user);
    let (leaving, staying): (Vec<u32>, Vec<u32>) = guarded.into_iter().partition(is_leaving);
    if !options.dry_run {
        if !rustix::process::geteuid().is_root() {
            let own = launch::beside("castellan")?;
            bail!("to uninstall for the system needs root: run `sudo {} uninstall --system`", own.display());
        }
        presence::require_here()?;
    }
    let mut undone = Undone { dry_run: options.dry_run, ..Undone::default() };
    if staying.is_empty() {
        for registration in AgentId::ALL.into_iter().filter_map(Registration::of_machine) {
            undone.registration(&registration, registration.remove(options.dry_run));
        }
    }
    // Remaining hooks would have every call denied.
    if undone.failures.is_empty() {
        let leave = Leave { places: &places, leaving: &leaving, staying: &staying, purges: options.purge };
        leave.run(&mut undone)?;
    }
    write(global, &[], &undone)?;
    Ok(if undone.failures.is_empty() { Exit::Done } else { Exit::Incomplete })
}

/// Returns the id of a user, also of one whose account is gone.
fn user(name: &str) -> anyhow::Result<u32> {
    let account = account_named(name).map(|account| account.uid);
    account.or_else(|| name.parse().ok()).with_context(|| format!("`{name}` is no user in `/etc/passwd`"))
}

/// The end of the guard of some users.
struct Leave<'a> {
    places: &'a Places,
    leaving: &'a [u32],
    staying: &'a [u32],
    purges: bool,
}

impl Leave<'_> {
    fn run(&self, undone: &mut Undone) -> anyhow::Result<()> {
        let does = !undone.dry_run;
        for user in self.leaving {
            let what = if self.purges { "deleted" } else { "set aside" };
            let path = self.leave(*user, does)?;
            undone.rows.push(vec![what.into(), path.display().to_string().into()]);
        }
        for path in self.files(does)? {
            undone.rows.push(vec!["removed".into(), path.display().to_string().into()]);
        }
        if does && self.staying.is_empty() { self.forget_user() } else { Ok(()) }
    }

    /// Ends the guard of one user. Returns the home that was deleted, or its new place.
    fn leave(&self, user: u32, does: bool) -> anyhow::Result<PathBuf> {
        let home = self.places.homes().join(user.to_string());
        let aside = aside(&home);
        if does {
            let mut units = system::units_of(user);
            units.reverse();
            if is_ours(&self.places.units().join("castellan@.service")) {
                let words = ["systemctl", "disable", "--now"].map(str::to_owned);
                ran(&words.into_iter().chain(units).collect::<Vec<_>>())?;
            }
            delete(&self.places.run().join(user.to_string()))?;
            if self.purges {
                delete(&home)?;
            } else {
                std::fs::rename(&home, &aside).with_context(|| format!("`{}`", home.display()))?;
            }
        }
        Ok(if self.purges { home } else { aside })
    }

    /// Removes the files with the last user, or leaves out the others. Returns the removed files.
    fn files(&self, does: bool) -> anyhow::Result<Vec<PathBuf>> {
        let folders = self.places.folders();
        if !self.staying.is_empty() {
            if does {
                put(&folders, &[system::folders(self.staying)])?;
            }
            return Ok(Vec::new());
        }
        let mut removed = remove(&self.places.units(), &system::unit_files(), !does)?;
        removed.extend(remove(&folders, &[FOLDERS_FILE.to_owned()], !does)?);
        if does && !removed.is_empty() {
            ran(&["systemctl", "daemon-reload"].map(str::to_owned))?;
        }
        Ok(removed)
    }

    /// Removes the daemon's user, unless homes that were set aside are still that user's.
    fn forget_user(&self) -> anyhow::Result<()> {
        let _ = std::fs::remove_dir(self.places.run());
        let homes = self.places.homes();
        let is_empty = std::fs::remove_dir(&homes).is_ok();
        let account = account_named(DAEMON).filter(|account| account.home == homes);
        if is_empty && account.is_some() {
            ran(&["userdel", DAEMON].map(str::to_owned))?;
        }
        Ok(())
    }
}

/// Returns an unused place for a home. A home that stayed in its place would have its user's calls denied.
fn aside(home: &Path) -> PathBuf {
    let name = home.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let mut places = (1..=u32::MAX).map(|number| home.with_file_name(format!("removed-{name}-{number}")));
    let free = places.find(|place| std::fs::symlink_metadata(place).is_err());
    free.unwrap_or_else(|| home.with_file_name(format!("removed-{name}")))
}

/// Deletes a folder and everything in it, without following links.
fn delete(path: &Path) -> anyhow::Result<()> {
    match std::fs::remove_dir_all(path) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(()),
        deleted => deleted.with_context(|| format!("`{}`", path.display())),
    }
}
