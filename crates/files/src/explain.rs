//! A failure of the file system and a person's remedy for it.

use std::io::{Error, ErrorKind};

/// The first row that fits counts.
const REMEDIES: &[(ErrorKind, &str)] = &[
    (ErrorKind::PermissionDenied, "make it readable and writable for this user, or use another home"),
    (ErrorKind::ReadOnlyFilesystem, "use a home on a writable file system"),
    (ErrorKind::StorageFull, "free some space on its file system"),
    (ErrorKind::QuotaExceeded, "free some of this user's disk quota"),
    (ErrorKind::FileTooLarge, "raise the file size limit of the daemon (`ulimit -f`)"),
    (ErrorKind::NotFound, "start castellan, which creates it"),
    (ErrorKind::NotADirectory, "move away the file that stands where a directory is needed"),
    (ErrorKind::AlreadyExists, "move away what stands where a directory is needed"),
];

/// Returns the text of an error, and for one of the kernel's a remedy. The errors of this crate hold theirs.
pub fn explained(error: &Error) -> String {
    if error.raw_os_error().is_none() {
        return error.to_string();
    }
    let known = REMEDIES.iter().find(|(kind, _)| *kind == error.kind());
    format!("{error}: {}", known.map_or("check the disk and the mount", |(_, remedy)| remedy))
}
