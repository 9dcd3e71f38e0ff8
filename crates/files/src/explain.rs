//! Remedies for failures of the file system.

use std::io::{Error, ErrorKind};

/// The kind of a kernel error, the reason in plain words, and the remedy.
const REMEDIES: &[(ErrorKind, &str, &str)] = &[
    (
        ErrorKind::PermissionDenied,
        "this user has no permission",
        "make it readable and writable for this user, or use another home",
    ),
    (ErrorKind::ReadOnlyFilesystem, "the file system is read-only", "use a home on a writable file system"),
    (ErrorKind::StorageFull, "the disk is full", "free some space"),
    (ErrorKind::QuotaExceeded, "this user's disk quota is used up", "free some space"),
    (
        ErrorKind::FileTooLarge,
        "the file would exceed the file size limit",
        "raise the file size limit of the daemon (`ulimit -f`)",
    ),
    (ErrorKind::NotFound, "it does not exist", "start castellan, which creates it"),
    (ErrorKind::NotADirectory, "a file is in the place of a directory", "move that file away"),
    (ErrorKind::AlreadyExists, "something else is in its place", "move that away"),
];

/// Returns the text of an error. A kernel error gets a remedy; errors of this crate contain one already.
pub fn explained(error: &Error) -> String {
    if error.raw_os_error().is_none() {
        return error.to_string();
    }
    match REMEDIES.iter().find(|(kind, ..)| *kind == error.kind()) {
        Some((_, reason, remedy)) => format!("{reason}: {remedy}"),
        None => format!("{error}: check the disk and the mount"),
    }
}
