//! The programs of a registration for the whole machine: everybody's agents start them, so nobody but root may change them, and everybody
//! must be able to start them.

use std::fs::Metadata;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use castellan_files::of_system;

use crate::limits::PASSWD_BYTES_MAX;

/// Fails where somebody who is not root can change one of these programs, or put another one in its place.
pub(super) fn require(programs: &[&Path]) -> anyhow::Result<()> {
    let others = others_root();
    for program in programs {
        for (path, found) in on_the_way(program)? {
            let owner = found.uid();
            let is_roots = owner == 0 || Some(owner) == others;
            // In a sticky directory, as `/tmp` is one, nobody moves what is root's.
            let is_sticky = found.is_dir() && found.mode() & STICKY != 0;
            // A group has the members that root gave it, as Debian's `staff` for `/usr/local`.
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

/// Says why others than root cannot start a program, where they cannot: their agents' calls are denied then.
pub(super) fn closed(program: &Path) -> Option<String> {
    let (path, _) =
        on_the_way(program).ok()?.into_iter().find(|(_, found)| found.mode() & SEARCHABLE == 0)?;
    let (program, path) = (program.display(), path.display());
    Some(format!(
        "cannot start `{program}`, and have their agents' calls denied: `chmod o+x {path}`, or install castellan in \
         {PLACE}"
    ))
}

/// Where programs are for everybody: only root changes it.
const PLACE: &str = "/usr/local/bin";

const STICKY: u32 = 0o1000;
const WRITABLE_BY_OTHERS: u32 = 0o002;
const SEARCHABLE: u32 = 0o001;

/// A file and the directories above it, past symlinks.
fn on_the_way(program: &Path) -> anyhow::Result<Vec<(PathBuf, Metadata)>> {
    let real = std::fs::canonicalize(program).with_context(|| format!("`{}`", program.display()))?;
    let look = |path: &Path| {
        let found = std::fs::metadata(path).with_context(|| format!("`{}`", path.display()))?;
        Ok((path.to_owned(), found))
    };
    real.ancestors().map(look).collect()
}

/// Whose the files of the machine's root seem to be in a user namespace, which does not know that root: nobody's. Outside of one, nobody is
/// a user like others.
fn others_root() -> Option<u32> {
    let read = |file| String::from_utf8(of_system(file, PASSWD_BYTES_MAX)?).ok();
    let map = read("/proc/self/uid_map")?;
    let is_whole = map.split_ascii_whitespace().eq(["0", "0", "4294967295"]);
    let nobody = read("/proc/sys/kernel/overflowuid")?;
    nobody.trim().parse().ok().filter(|_| !is_whole)
}
