//! [`Guard`]: the users who may write a file that castellan reads.

use std::fs::Metadata;
use std::io;
use std::os::unix::fs::MetadataExt;

use crate::open::Links;

/// The users who may write a file that castellan reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Guard {
    /// Everybody, at any time: the file is only data, or no other user can write in its directory.
    Any,
    /// A file of this user or root that is not world-writable; its group may write. Symbolic links are followed.
    User,
    /// As `User`, without symbolic links: with a link, the author of a repository could choose the file that is read.
    Project,
    /// This user id alone, without symbolic links.
    Owner(u32),
    /// As `Owner`, and no other user may read the file either. castellan writes its own state so.
    Private(u32),
}

impl Guard {
    /// Checks that no other user can have written the file or folder of this metadata.
    pub fn check(self, of: &Metadata) -> io::Result<()> {
        self.check_for(rustix::process::geteuid().as_raw(), of)
    }

    /// As [`Guard::check`], where `User` and `Project` mean the user with the id `own`.
    pub fn check_for(self, own: u32, of: &Metadata) -> io::Result<()> {
        let (owners, forbidden): (&[u32], u32) = match &self {
            Guard::Any => return Ok(()),
            Guard::User | Guard::Project => (&[own, 0], 0o002),
            Guard::Owner(owner) => (std::slice::from_ref(owner), 0o022),
            Guard::Private(owner) => (std::slice::from_ref(owner), 0o077),
        };
        if !owners.contains(&of.uid()) {
            return Err(distrust(format!(
                "it belongs to user {}, not {}: change its owner",
                of.uid(),
                owners.first().unwrap_or(&0)
            )));
        }
        if of.mode() & forbidden & 0o044 != 0 {
            return Err(distrust("other users can read or write it: run `chmod go=` on it".to_owned()));
        }
        if of.mode() & forbidden != 0 {
            return Err(distrust("other users can write it: run `chmod go-w` on it".to_owned()));
        }
        Ok(())
    }

    /// Returns the treatment of a symbolic link in the file's place.
    pub fn links(self) -> Links {
        match self {
            Guard::Any | Guard::User => Links::Followed,
            Guard::Project | Guard::Owner(_) | Guard::Private(_) => Links::Refused,
        }
    }
}

/// Reports whether a file was not read because another user can have written it.
pub fn is_distrusted(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::PermissionDenied && error.raw_os_error().is_none()
}

fn distrust(why: String) -> io::Error {
    io::Error::new(io::ErrorKind::PermissionDenied, why)
}
