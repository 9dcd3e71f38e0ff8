//! Copies of file contents: shared blocks where the file system can (`FICLONE`), else bytes, with holes kept. Reads and
//! hashes in pieces of fixed size. It must not know places.

use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::OwnedFd;

use rustix::fs::{SeekFrom, ftruncate, seek};
use rustix::io::Errno;
use sha2::{Digest, Sha256};

use crate::limits::CHUNK_BYTES;

/// The SHA-256 of contents.
pub(crate) type Hash = [u8; 32];

pub(crate) fn hash_of(bytes: &[u8]) -> Hash {
    Sha256::digest(bytes).into()
}

/// Hashes an open file from its start, at most `size` bytes and one more.
pub(crate) fn hash_file(file: &File, size: u64) -> io::Result<Hash> {
    seek(file, SeekFrom::Start(0))?;
    let mut hasher = Sha256::new();
    let mut reader = file.take(size.saturating_add(1));
    let mut chunk = vec![0; CHUNK_BYTES];
    loop {
        let read = reader.read(&mut chunk)?;
        let Some(part) = chunk.get(..read).filter(|part| !part.is_empty()) else {
            return Ok(hasher.finalize().into());
        };
        hasher.update(part);
    }
}

/// Copies the first `size` bytes of `from` into the empty file `to`.
pub(crate) fn copy(from: &File, to: &File, size: u64) -> io::Result<()> {
    if clones(from, to) {
        // A file that grew meanwhile was cloned longer.
        ftruncate(to, size)?;
        return Ok(());
    }
    let mut at = 0;
    while at < size {
        let Some((start, end)) = next_data(from, at, size)? else { break };
        seek(from, SeekFrom::Start(start))?;
        seek(to, SeekFrom::Start(start))?;
        copy_bytes(from, to, end - start)?;
        at = end;
    }
    ftruncate(to, size)?;
    Ok(())
}

#[cfg(target_os = "linux")]
fn clones(from: &File, to: &File) -> bool {
    rustix::fs::ioctl_ficlone(to, from).is_ok()
}

#[cfg(not(target_os = "linux"))]
fn clones(_from: &File, _to: &File) -> bool {
    false
}

/// Finds the next bytes from `at` that are no hole. A file system without holes reports one piece.
fn next_data(file: &File, at: u64, size: u64) -> io::Result<Option<(u64, u64)>> {
    let start = match seek(file, SeekFrom::Data(at)) {
        Ok(start) => start,
        Err(Errno::NXIO) => return Ok(None),
        Err(Errno::INVAL) => return Ok(Some((at, size))),
        Err(why) => return Err(why.into()),
    };
    let end = seek(file, SeekFrom::Hole(start)).unwrap_or(size);
    Ok((start < size).then_some((start, end.clamp(start, size))).filter(|(start, end)| start < end))
}

fn copy_bytes(from: &File, to: &File, count: u64) -> io::Result<()> {
    let mut reader = from.take(count);
    let mut writer = to;
    let mut chunk = vec![0; CHUNK_BYTES.min(usize::try_from(count).unwrap_or(CHUNK_BYTES))];
    loop {
        let read = reader.read(&mut chunk)?;
        let Some(part) = chunk.get(..read).filter(|part| !part.is_empty()) else { return Ok(()) };
        writer.write_all(part)?;
    }
}

/// Reads a whole file of at most `size` bytes; `None` if it has more.
pub(crate) fn read(file: &File, size: u64) -> io::Result<Option<Vec<u8>>> {
    seek(file, SeekFrom::Start(0))?;
    castellan_files::at_most(file, size)
}

pub(crate) fn file(fd: OwnedFd) -> File {
    File::from(fd)
}
