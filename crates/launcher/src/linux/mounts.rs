//! The steps of a plan that change mounts. No path is followed through a symlink.

use std::ffi::OsStr;
use std::os::fd::OwnedFd;
use std::path::Path;

use castellan_sandbox::{Bytes, Make, MountFlags, Step, limits};
use rustix::fs::{
    CWD, FileType, Mode, OFlags, ResolveFlags, mkdirat, mknodat, openat2, readlinkat, symlinkat,
};
use rustix::io::Errno;
use rustix::mount::{
    MountFlags as Flags, MoveMountFlags, OpenTreeFlags, UnmountFlags, mount, move_mount, open_tree, unmount,
};
use rustix::process::umask;

use crate::linux::error::{Result, failed};
use crate::linux::sys;

type Tried<T> = std::result::Result<T, Errno>;

/// What the steps share.
#[derive(Default)]
struct Progress {
    /// Copies of trees that are not mounted yet.
    copies: Vec<(u16, OwnedFd)>,
    /// The directory of the last entry that was made: many have the same.
    above: Option<(Bytes, OwnedFd)>,
}

/// Applies the steps in their order.
pub(crate) fn apply(steps: &[Step]) -> Result<()> {
    // The mask of the caller is that of the command, and does not apply to what the steps make.
    let mask = umask(Mode::empty());
    let mut progress = Progress::default();
    for step in steps {
        let (done, word, path) = progress.one(step);
        done.map_err(|errno| failed(word, path.clone(), errno))?;
    }
    umask(mask);
    Ok(())
}

impl Progress {
    fn one<'a>(&mut self, step: &'a Step) -> (Tried<()>, &'static str, &'a Bytes) {
        match step {
            Step::Copy { slot, path, flags } => {
                let copied = copy(path, *flags).map(|tree| self.copies.push((*slot, tree)));
                (copied, "copy the mount of", path)
            }
            Step::Restrict { path, flags, recursive } => {
                let done = open_path(path).and_then(|at| sys::mount_flags(at, *flags, *recursive));
                (done, "restrict the mount of", path)
            }
            Step::Attach { slot, at, make } => {
                let position = self.copies.iter().position(|(known, _)| known == slot);
                let tree = position.map(|position| self.copies.swap_remove(position).1).ok_or(Errno::INVAL);
                (tree.and_then(|tree| self.attach(&tree, at, *make)), "mount", at)
            }
            Step::Bind { from, at, flags, make, link: None } => {
                (copy(from, *flags).and_then(|tree| self.attach(&tree, at, *make)), "mount", at)
            }
            Step::Bind { from, at, flags, link: Some(text), .. } => {
                (cover(from, at, *flags, text), "mount", at)
            }
            Step::Private { at, mode, bytes, make, execution } => {
                let options = format!("mode={mode:o},size={bytes},nr_inodes={}", limits::PRIVATE_FILES);
                let mut flags = Flags::NOSUID | Flags::NODEV;
                if !execution {
                    flags |= Flags::NOEXEC;
                }
                let done = self.file_system("tmpfs", at, flags, &options, *make);
                (done, "mount an empty file system at", at)
            }
            Step::Processes { at, make } => {
                let flags = Flags::NOSUID | Flags::NODEV | Flags::NOEXEC;
                (self.file_system("proc", at, flags, "", *make), "mount a new /proc at", at)
            }
            Step::Terminals { at } => {
                let options = "newinstance,ptmxmode=0666,mode=0620";
                let flags = Flags::NOSUID | Flags::NOEXEC;
                (self.file_system("devpts", at, flags, options, Make::No), "mount new terminals at", at)
            }
            Step::Directory { at, mode } => (self.directory(at, *mode), "make the directory", at),
            Step::File { at, mode } => (self.file(at, *mode), "make the file", at),
            Step::Link { at, to } => (self.link(at, to), "make the symlink", at),
            Step::Write { path, text } => (write(path, text), "write", path),
            Step::Root { at } => (root(at), "make a new root of", at),
        }
    }

    fn attach(&mut self, tree: &OwnedFd, at: &Bytes, make: Make) -> Tried<()> {
        if make == Make::No {
            self.covered(at);
            return mount_at(tree, &open_path(at)?);
        }
        self.made(at, make)?;
        self.covered(at);
        let (above, name) = self.split(at)?;
        // Without a flag for symlinks the last part is not followed.
        move_mount(tree, c"", above, name, MoveMountFlags::MOVE_MOUNT_F_EMPTY_PATH)
    }

    fn file_system(&mut self, kind: &str, at: &Bytes, flags: Flags, options: &str, make: Make) -> Tried<()> {
        self.made(at, make)?;
        self.covered(at);
        let options = std::ffi::CString::new(options).map_err(|_| Errno::INVAL)?;
        mount(kind, at.path(), kind, flags, Some(options.as_c_str()))
    }

    /// Makes a mount point that is missing, with the directories above it.
    fn made(&mut self, at: &Bytes, make: Make) -> Tried<()> {
        let make_one = |progress: &mut Progress| match make {
            Make::No => Ok(()),
            Make::Directory => progress.directory(at, 0o755),
            Make::File => progress.file(at, 0o644),
        };
        match make_one(self) {
            // A symlink in its place makes the mount fail.
            Err(Errno::EXIST) => Ok(()),
            Err(Errno::NOENT) => {
                if let Some(above) = at.path().parent() {
                    self.made(&Bytes::from(above), Make::Directory)?;
                }
                make_one(self)
            }
            other => other,
        }
    }

    fn directory(&mut self, at: &Bytes, mode: u32) -> Tried<()> {
        let (above, name) = self.split(at)?;
        mkdirat(above, name, Mode::from_raw_mode(mode))
    }

    fn file(&mut self, at: &Bytes, mode: u32) -> Tried<()> {
        let (above, name) = self.split(at)?;
        mknodat(above, name, FileType::RegularFile, Mode::from_raw_mode(mode), 0)
    }

    fn link(&mut self, at: &Bytes, to: &Bytes) -> Tried<()> {
        let (above, name) = self.split(at)?;
        symlinkat(to.path(), above, name)
    }

    /// Returns the opened directory of a path, and the last part.
    fn split<'a>(&mut self, at: &'a Bytes) -> Tried<(&OwnedFd, &'a OsStr)> {
        let (above, name) = at.path().parent().zip(at.path().file_name()).ok_or(Errno::INVAL)?;
        let known = self.above.take().filter(|(path, _)| path.path() == above);
        let opened = match known {
            Some(known) => known,
            None => (Bytes::from(above), open_path(&Bytes::from(above))?),
        };
        let (_, directory) = self.above.insert(opened);
        Ok((directory, name))
    }

    /// Forgets a directory that a mount at a path covers.
    fn covered(&mut self, at: &Bytes) {
        self.above = self.above.take().filter(|(path, _)| !path.path().starts_with(at.path()));
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

fn mount_at(tree: &OwnedFd, at: &OwnedFd) -> Tried<()> {
    let how = MoveMountFlags::MOVE_MOUNT_F_EMPTY_PATH | MoveMountFlags::MOVE_MOUNT_T_EMPTY_PATH;
    move_mount(tree, c"", at, c"", how)
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
