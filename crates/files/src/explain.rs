//! Remedies for failures of the file system.

use std::io::{Error, ErrorKind};

/// The first matching row applies.
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

/// Returns the text of an error. A kernel error gets a remedy; errors of this crate contain one already.
pub fn explained(error: &Error) -> String {
    if error.raw_os_error().is_none() {
        return error.to_string();
    }
    let known = REMEDIES.iter().find(|(kind, _)| *kind == error.kind());
    format!("{error}: {}", known.map_or("check the disk and the mount", |(_, remedy)| remedy))
}
