//! Applies the Landlock rules of a plan.

use std::os::fd::AsFd;

use castellan_sandbox::{FILE_RIGHTS, Landlock};
use rustix::fs::{FileType, OFlags, fcntl_getfl, fstat};
use rustix::io::Errno;

use crate::linux::error::{Result, failed};
use crate::linux::mounts::open_path;
use crate::linux::sys::Ruleset;

const WRITE_FILE: u64 = 1 << 1;
const READ_FILE: u64 = 1 << 2;
const TRUNCATE: u64 = 1 << 14;

pub(crate) fn apply(landlock: &Landlock) -> Result<()> {
    let made = Ruleset::new(landlock.files, landlock.network, landlock.scopes);
    let rules = made.map_err(|errno| failed("make Landlock rules", "", errno))?;
    for rule in &landlock.rules {
        let opened = match open_path(&rule.path) {
            Err(Errno::NOENT | Errno::ACCESS | Errno::LOOP) if rule.optional => continue,
            other => other,
        };
        let wrong = |errno| failed("permit", rule.path.clone(), errno);
        let opened = opened.map_err(wrong)?;
        let found = fstat(&opened).map_err(wrong)?;
        let directory = FileType::from_raw_mode(found.st_mode) == FileType::Directory;
        let rights = rule.rights & if directory { u64::MAX } else { FILE_RIGHTS };
        if rights != 0 {
            rules.permit(&opened, rights).map_err(wrong)?;
        }
    }
    for port in &landlock.ports {
        rules.permit_port(*port).map_err(|errno| failed("permit a port", "", errno))?;
    }
    for stream in [rustix::stdio::stdin().as_fd(), rustix::stdio::stdout(), rustix::stdio::stderr()] {
        permit_stream(&rules, stream, landlock.streams)?;
    }
    rules.apply().map_err(|errno| failed("apply Landlock rules", "", errno))
}

/// Permits to open the file of a standard stream again (`/dev/stdout`), as it is open already. Pipes and sockets need no rule.
fn permit_stream(rules: &Ruleset, stream: std::os::fd::BorrowedFd<'_>, rights: u64) -> Result<()> {
    let (Ok(found), Ok(flags)) = (fstat(stream), fcntl_getfl(stream)) else { return Ok(()) };
    let kind = FileType::from_raw_mode(found.st_mode);
    if !matches!(kind, FileType::RegularFile | FileType::CharacterDevice) {
        return Ok(());
    }
    let without = match flags & OFlags::RWMODE {
        mode if mode == OFlags::RDONLY => WRITE_FILE | TRUNCATE,
        mode if mode == OFlags::WRONLY => READ_FILE,
        _ => 0,
    };
    match rules.permit(stream, rights & !without & FILE_RIGHTS) {
        // A file that only the kernel mounts, as one in memory: Landlock does not check it.
        Ok(()) | Err(Errno::BADFD | Errno::BADF) => Ok(()),
        Err(errno) => Err(failed("permit a standard stream", "", errno)),
    }
}
