//! Settings of the kernel: files that are written at once.

use std::path::Path;

use rustix::fs::{CWD, Mode, OFlags, openat};
use rustix::io::Errno;

use crate::linux::error::{Result, failed};

/// Writes a setting of the kernel, whole.
pub(crate) fn write(path: &Path, text: &[u8]) -> Result<()> {
    let wrong = |errno| failed("write", path, errno);
    let file = openat(CWD, path, OFlags::WRONLY | OFlags::CLOEXEC | OFlags::NOFOLLOW, Mode::empty())
        .map_err(wrong)?;
    let written = rustix::io::write(&file, text).map_err(wrong)?;
    if written == text.len() { Ok(()) } else { Err(wrong(Errno::IO)) }
}
