//! The steps of a plan that change mounts. No path is followed through a symlink.

use std::ffi::OsStr;
use std::os::fd::OwnedFd;
use std::path::Path;

use castellan_sandbox::{Bytes, Make, MountFlags, Step, limits};
use rustix::fs::{CWD, Mode, OFlags, ResolveFlags, chmodat, mkdirat, openat2, readlinkat, symlinkat};
use rustix::io::Errno;
use rustix::mount::{
    MountFlags as Flags, MoveMountFlags, OpenTreeFlags, UnmountFlags, mount, move_mount, open_tree, unmount,
};

use crate::error::{Result, failed};
use crate::sys;

type Tried<T> = std::result::Result<T, Errno>;

/// Applies the steps in their order.
pub(crate) fn apply(steps: &[Step]) -> Result<()> {
    let mut copies: Vec<(u16, OwnedFd)> = Vec::new();
    for step in steps {
        let (done, word, path) = one(step, &mut copies);
        done.map_err(|errno| failed(word, path.clone(), errno))?;
    }
    Ok(())
}

fn one<'a>(step: &'a Step, copies: &mut Vec<(u16, OwnedFd)>) -> (Tried<()>, &'static str, &'a Bytes) {
    match step {
        Step::Copy { slot, path, flags } => {
            (copy(path, *flags).map(|tree| copies.push((*slot, tree))), "copy the mount of", path)
        }
        Step::Restrict { path, flags, recursive } => {
            let done = open_path(path).and_then(|at| sys::mount_flags(at, *flags, *recursive));
            (done, "restrict the mount of", path)
        }
        Step::Attach { slot, at, make } => {
            let position = copies.iter().position(|(known, _)| known == slot);
            let tree = position.map(|position| copies.swap_remove(position).1).ok_or(Errno::INVAL);
            (tree.and_then(|tree| attach(&tree, at, *make)), "mount", at)
        }
        Step::Bind { from, at, flags, make, link: None } => {
            (copy(from, *flags).and_then(|tree| attach(&tree, at, *make)), "mount", at)
        }
        Step::Bind { from, at, flags, link: Some(text), .. } => (cover(from, at, *flags, text), "mount", at),
        Step::Private { at, mode, bytes, make, execution } => {
            let options = format!("mode={mode:o},size={bytes},nr_inodes={}", limits::PRIVATE_FILES);
            let mut flags = Flags::NOSUID | Flags::NODEV;
            if !execution {
                flags |= Flags::NOEXEC;
            }
            (file_system("tmpfs", at, flags, &options, *make), "mount an empty file system at", at)
        }
        Step::Processes { at, make } => {
            let flags = Flags::NOSUID | Flags::NODEV | Flags::NOEXEC;
            (file_system("proc", at, flags, "", *make), "mount a new /proc at", at)
        }
        Step::Terminals { at } => {
            let options = "newinstance,ptmxmode=0666,mode=0620";
            let flags = Flags::NOSUID | Flags::NOEXEC;
            (file_system("devpts", at, flags, options, Make::No), "mount new terminals at", at)
        }
        Step::Directory { at, mode } => (directory(at, *mode), "make the directory", at),
        Step::File { at, mode } => (file(at, *mode), "make the file", at),
        Step::Link { at, to } => (link(at, to), "make the symlink", at),
        Step::Write { path, text } => (write(path, text), "write", path),
        Step::Root { at } => (root(at), "make a new root of", at),
    }
}

/// Opens a path that has no symlink in it, also not as its last part.
pub(crate) fn open_path(path: &Bytes) -> Tried<OwnedFd> {
    let flags = OFlags::PATH | OFlags::CLOEXEC;
    openat2(CWD, path.path(), flags, Mode::empty(), ResolveFlags::NO_SYMLINKS)
}

/// Opens a symlink itself, if it has this text.
fn open_link(path: &Bytes, text: &Bytes) -> Tried<OwnedFd> {
    let flags = OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let link = openat2(CWD, path.path(), flags, Mode::empty(), ResolveFlags::NO_SYMLINKS)?;
    let found = readlinkat(&link, c"", Vec::new())?;
    if found.as_bytes() == text.0 { Ok(link) } else { Err(Errno::LOOP) }
}

/// Mounts a tree, or the symlink itself, over a symlink.
fn cover(from: &Bytes, at: &Bytes, flags: MountFlags, text: &Bytes) -> Tried<()> {
    let link = open_link(at, text)?;
    let tree = if from == at { copy_opened(&link, flags)? } else { copy(from, flags)? };
    mount_at(&tree, &link)
}

fn copy(path: &Bytes, flags: MountFlags) -> Tried<OwnedFd> {
    copy_opened(&open_path(path)?, flags)
}

fn copy_opened(found: &OwnedFd, flags: MountFlags) -> Tried<OwnedFd> {
    let how = OpenTreeFlags::OPEN_TREE_CLONE
        | OpenTreeFlags::OPEN_TREE_CLOEXEC
        | OpenTreeFlags::AT_EMPTY_PATH
        | OpenTreeFlags::AT_RECURSIVE;
    let tree = open_tree(found, c"", how)?;
    sys::mount_flags(&tree, flags, true)?;
    Ok(tree)
}

fn attach(tree: &OwnedFd, at: &Bytes, make: Make) -> Tried<()> {
    made(at, make)?;
    mount_at(tree, &open_path(at)?)
}

fn mount_at(tree: &OwnedFd, at: &OwnedFd) -> Tried<()> {
    let how = MoveMountFlags::MOVE_MOUNT_F_EMPTY_PATH | MoveMountFlags::MOVE_MOUNT_T_EMPTY_PATH;
    move_mount(tree, c"", at, c"", how)
}

fn file_system(kind: &str, at: &Bytes, flags: Flags, options: &str, make: Make) -> Tried<()> {
    made(at, make)?;
    let options = std::ffi::CString::new(options).map_err(|_| Errno::INVAL)?;
    mount(kind, at.path(), kind, flags, Some(options.as_c_str()))
}

/// Makes a mount point that is missing, with the directories above it.
fn made(at: &Bytes, make: Make) -> Tried<()> {
    let make_one = || match make {
        Make::No => Ok(()),
        Make::Directory => directory(at, 0o755),
        Make::File => file(at, 0o644),
    };
    match make_one() {
        // A symlink in its place makes the mount fail.
        Err(Errno::EXIST) => Ok(()),
        Err(Errno::NOENT) => {
            if let Some(above) = at.path().parent() {
                made(&Bytes::from(above), Make::Directory)?;
            }
            make_one()
        }
        other => other,
    }
}

fn directory(at: &Bytes, mode: u32) -> Tried<()> {
    let (above, name) = split(at)?;
    mkdirat(&above, name, Mode::RWXU)?;
    // The mask of the caller does not apply.
    chmodat(&above, name, Mode::from_raw_mode(mode), rustix::fs::AtFlags::empty())
}

fn file(at: &Bytes, mode: u32) -> Tried<()> {
    let (above, name) = split(at)?;
    let flags = OFlags::CREATE | OFlags::EXCL | OFlags::WRONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    openat2(&above, name, flags, Mode::from_raw_mode(mode), ResolveFlags::NO_SYMLINKS).map(drop)
}

fn link(at: &Bytes, to: &Bytes) -> Tried<()> {
    let (above, name) = split(at)?;
    symlinkat(to.path(), &above, name)
}

fn split(at: &Bytes) -> Tried<(OwnedFd, &OsStr)> {
    let (above, name) = at.path().parent().zip(at.path().file_name()).ok_or(Errno::INVAL)?;
    Ok((open_path(&Bytes::from(above))?, name))
}

fn write(path: &Bytes, text: &Bytes) -> Tried<()> {
    let flags = OFlags::WRONLY | OFlags::CLOEXEC | OFlags::NOFOLLOW;
    let file = openat2(CWD, path.path(), flags, Mode::empty(), ResolveFlags::NO_SYMLINKS)?;
    let written = rustix::io::write(&file, &text.0)?;
    if written == text.0.len() { Ok(()) } else { Err(Errno::IO) }
}

fn root(at: &Bytes) -> Tried<()> {
    rustix::process::chdir(at.path())?;
    // The old root is mounted over the new one, and then removed.
    rustix::process::pivot_root(Path::new("."), Path::new("."))?;
    unmount(".", UnmountFlags::DETACH)?;
    rustix::process::chdir("/")
}
