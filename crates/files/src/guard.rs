//! [`Guard`]: who may have written a file, for it to be read.

use std::fs::Metadata;
use std::io;
use std::os::unix::fs::MetadataExt;

use crate::open::Links;

/// Who may have written a file, for it to be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Guard {
    /// Anybody, and it may change meanwhile: it is only data, or lies where no other user writes.
    Any,
    /// This user or root, and nobody else; through symbolic links too.
    User,
    /// As `User`, but no symbolic link: the author of a repository would choose what is read.
    Project,
    /// This user id alone, and no symbolic link.
    Owner(u32),
    /// As `Owner`, and nobody else may read it either: castellan's own state, which it wrote so.
    Private(u32),
}

impl Guard {
    /// Checks that nobody else can have written what this describes: a file, or a folder.
    pub fn check(self, of: &Metadata) -> io::Result<()> {
        let own = rustix::process::geteuid().as_raw();
        let (owners, forbidden): (&[u32], u32) = match &self {
            Guard::Any => return Ok(()),
            Guard::User | Guard::Project => (&[own, 0], 0o002),
            Guard::Owner(owner) => (std::slice::from_ref(owner), 0o022),
            Guard::Private(owner) => (std::slice::from_ref(owner), 0o077),
        };
        if !owners.contains(&of.uid()) {
            return Err(distrust(format!(
                "it belongs to user {}, not {}",
                of.uid(),
                owners.first().unwrap_or(&0)
            )));
        }
        if of.mode() & forbidden & 0o044 != 0 {
            return Err(distrust("others may read or write it: `chmod go=` it".to_owned()));
        }
        if of.mode() & forbidden != 0 {
            return Err(distrust("others can write it: `chmod go-w` it".to_owned()));
        }
        Ok(())
    }

    pub(crate) fn links(self) -> Links {
        match self {
            Guard::Any | Guard::User => Links::Followed,
            Guard::Project | Guard::Owner(_) | Guard::Private(_) => Links::Refused,
        }
    }
}

/// Reports whether a file was not read because somebody else can have written it.
pub fn is_distrusted(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::PermissionDenied && error.raw_os_error().is_none()
}

fn distrust(why: String) -> io::Error {
    io::Error::new(io::ErrorKind::PermissionDenied, why)
}
