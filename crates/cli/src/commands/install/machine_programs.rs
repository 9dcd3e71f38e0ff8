//! The programs of a machine-wide registration. The agents of all users start them, so only root may change them, and
//! every user must be able to start them.

use std::fs::Metadata;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use castellan_files::of_system;

use crate::limits::PASSWD_BYTES_MAX;

/// Fails if a user other than root can change or replace one of these programs.
pub(super) fn require(programs: &[&Path]) -> anyhow::Result<()> {
    let others = others_root();
    for program in programs {
        for (path, found) in on_the_way(program)? {
            let owner = found.uid();
            let is_roots = owner == 0 || Some(owner) == others;
            // In a sticky directory such as `/tmp`, no other user can move root's files.
            let is_sticky = found.is_dir() && found.mode() & STICKY != 0;
            // Group write access is accepted: root chooses the members, as in Debian's `staff` for `/usr/local`.
            let is_shared = found.mode() & WRITABLE_BY_OTHERS != 0 && !is_sticky;
            if !is_roots || is_shared {
                let (program, path) = (program.display(), path.display());
                let copies: Vec<String> =
                    programs.iter().map(|program| program.display().to_string()).collect();
                bail!(
                    "every user's agents would start `{program}`, and somebody who is not root can change `{path}`: run `sudo install \
                     -m 755 {} {PLACE}`, then `sudo {PLACE}/castellan install --managed`",
                    copies.join(" ")
                );
            }
        }
    }
    Ok(())
}

/// Returns the reason if users other than root cannot start a program. The calls of these users' agents are denied.
pub(super) fn closed(program: &Path) -> Option<String> {
    let (path, _) =
        on_the_way(program).ok()?.into_iter().find(|(_, found)| found.mode() & SEARCHABLE == 0)?;
    let (program, path) = (program.display(), path.display());
    Some(format!(
        "cannot start `{program}`, and have their agents' calls denied: `chmod o+x {path}`, or install castellan in \
         {PLACE}"
    ))
}

/// The directory of programs for all users, which only root changes.
const PLACE: &str = "/usr/local/bin";

const STICKY: u32 = 0o1000;
const WRITABLE_BY_OTHERS: u32 = 0o002;
const SEARCHABLE: u32 = 0o001;

/// Returns a file and the directories above it, with symlinks resolved.
fn on_the_way(program: &Path) -> anyhow::Result<Vec<(PathBuf, Metadata)>> {
    let real = std::fs::canonicalize(program).with_context(|| format!("`{}`", program.display()))?;
    let look = |path: &Path| {
        let found = std::fs::metadata(path).with_context(|| format!("`{}`", path.display()))?;
        Ok((path.to_owned(), found))
    };
    real.ancestors().map(look).collect()
}

/// Returns the owner id of the real root's files inside a user namespace that does not map root: the overflow user
/// (nobody). Outside of such a namespace, nobody is an ordinary user.
fn others_root() -> Option<u32> {
    let read = |file| String::from_utf8(of_system(file, PASSWD_BYTES_MAX)?).ok();
    let map = read("/proc/self/uid_map")?;
    let is_whole = map.split_ascii_whitespace().eq(["0", "0", "4294967295"]);
    let nobody = read("/proc/sys/kernel/overflowuid")?;
    nobody.trim().parse().ok().filter(|_| !is_whole)
}
