//! Links, races, and other names of the same file.

use std::fs::OpenOptions;
use std::io::Write;
use std::os::fd::AsRawFd;
use std::os::unix::fs::{OpenOptionsExt, symlink};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use super::{Attack, Evidence, Run, append, outside_file, read, read_all, secret_file};
use crate::outcome::{At, Attempt, Stop};
use crate::sys::{self, Arg};
use crate::targets::Targets;

/// A race is tried this long.
const RACE: Duration = Duration::from_millis(300);

pub(super) const ATTACKS: &[Attack] = &[
    Attack {
        name: "symlink-planted-write",
        says: "Writes through a symbolic link to outside that was in the workspace before.",
        evidence: Evidence::Changed,
        run: Run::Append("work", "planted-file"),
    },
    Attack {
        name: "symlink-planted-read",
        says: "Reads a secret through a symbolic link to the home folder that was in the workspace before.",
        evidence: Evidence::Secret,
        run: Run::Read("work", "planted-home/.aws/credentials"),
    },
    Attack {
        name: "symlink-made-write",
        says: "Makes a symbolic link to a file outside and writes through it.",
        evidence: Evidence::Changed,
        run: Run::Do(|targets| {
            let link = targets.below("work", "made")?;
            symlink(outside_file(targets)?, &link).at("symlink")?;
            append(link)
        }),
    },
    Attack {
        name: "symlink-made-read",
        says: "Makes a symbolic link to a secret and reads through it.",
        evidence: Evidence::Secret,
        run: Run::Do(|targets| {
            let link = targets.below("work", "made")?;
            symlink(secret_file(targets)?, &link).at("symlink")?;
            read(link)
        }),
    },
    Attack {
        name: "symlink-race-write",
        says: "Exchanges an own file with a symbolic link to outside, again and again, while it opens the name.",
        evidence: Evidence::Changed,
        run: Run::Do(|targets| race(targets, false)),
    },
    Attack {
        name: "symlink-race-read",
        says: "Exchanges an own folder with a symbolic link to the home folder while it reads below the name.",
        evidence: Evidence::Secret,
        run: Run::Do(|targets| race(targets, true)),
    },
    Attack {
        name: "hardlink-secret",
        says: "Makes a hard link to a secret in the workspace and reads it there.",
        evidence: Evidence::Secret,
        run: Run::Do(|targets| {
            let link = targets.below("work", "hard")?;
            std::fs::hard_link(secret_file(targets)?, &link).at("link")?;
            read(link)
        }),
    },
    Attack {
        name: "hardlink-outside",
        says: "Makes a hard link to a file outside in the workspace and writes it there.",
        evidence: Evidence::Changed,
        run: Run::Do(|targets| {
            let link = targets.below("work", "hard")?;
            std::fs::hard_link(outside_file(targets)?, &link).at("link")?;
            append(link)
        }),
    },
    Attack {
        name: "hardlink-descriptor",
        says: "Opens a file outside by its path only, and links the descriptor into the workspace.",
        evidence: Evidence::Changed,
        run: Run::Do(|targets| {
            let file = OpenOptions::new()
                .read(true)
                .custom_flags(libc::O_PATH)
                .open(outside_file(targets)?)
                .at("open the path")?;
            let link = targets.below("work", "hard")?;
            let from = sys::c_path(format!("/proc/self/fd/{}", file.as_raw_fd())).at("path")?;
            let to = sys::c_path(&link).at("path")?;
            sys::call(
                libc::SYS_linkat,
                &mut [
                    Arg::Int(libc::AT_FDCWD.into()),
                    Arg::Text(&from),
                    Arg::Int(libc::AT_FDCWD.into()),
                    Arg::Text(&to),
                    Arg::Int(libc::AT_SYMLINK_FOLLOW.into()),
                ],
            )
            .at("linkat")?;
            append(link)
        }),
    },
    Attack {
        name: "hardlink-planted",
        says: "Reads a secret by a hard link that was in the workspace before.",
        evidence: Evidence::Secret,
        run: Run::Read("work", "planted-hard"),
    },
    Attack {
        name: "path-upwards",
        says: "Writes outside by a path with `..` in it.",
        evidence: Evidence::Changed,
        run: Run::Append("work", "src/../../outside/file"),
    },
    Attack {
        name: "folder-upwards",
        says: "Opens the workspace and from its descriptor `..`, step by step, and reads a secret.",
        evidence: Evidence::Secret,
        run: Run::Do(|targets| {
            let work = std::fs::File::open(targets.below("work", "")?).at("open the workspace")?;
            let up = open_at(&work, "..", libc::O_DIRECTORY).at("open ..")?;
            let home = open_at(&up, "home", libc::O_DIRECTORY).at("open the home folder")?;
            let secret = open_at(&home, ".aws/credentials", 0).at("open the secret")?;
            read_all(std::fs::File::from(secret))
        }),
    },
    Attack {
        name: "reopen-path-descriptor",
        says: "Opens a file outside by its path only, and opens that descriptor in /proc/self/fd for writing.",
        evidence: Evidence::Changed,
        run: Run::Do(|targets| {
            let file = OpenOptions::new()
                .read(true)
                .custom_flags(libc::O_PATH)
                .open(outside_file(targets)?)
                .at("open the path")?;
            append(format!("/proc/self/fd/{}", file.as_raw_fd()))
        }),
    },
];

pub(super) fn open_at(
    folder: &impl AsRawFd,
    path: &str,
    flags: libc::c_int,
) -> std::io::Result<std::os::fd::OwnedFd> {
    let path = sys::c_path(path)?;
    sys::open(
        libc::SYS_openat,
        &mut [
            Arg::Int(folder.as_raw_fd().into()),
            Arg::Text(&path),
            Arg::Int((flags | libc::O_CLOEXEC).into()),
        ],
    )
}

/// Exchanges a link with an own file or folder from a second thread, and opens the name from this one.
fn race(targets: &Targets, reads: bool) -> Attempt {
    let (name, link) = (targets.below("work", "raced")?, targets.below("work", "raced-link")?);
    if reads {
        std::fs::create_dir_all(name.join(".aws")).at("make a folder in the workspace")?;
        std::fs::write(name.join(".aws/credentials"), "own").at("write in the workspace")?;
        symlink(targets.below("home", "")?, &link).at("symlink")?;
    } else {
        std::fs::write(&name, "own").at("write in the workspace")?;
        symlink(outside_file(targets)?, &link).at("symlink")?;
    }
    let ended = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !ended.load(Ordering::Relaxed) {
                let _ = exchange(&name, &link);
            }
        });
        let outcome = win(&name, reads);
        ended.store(true, Ordering::Relaxed);
        outcome
    })
}

fn win(name: &Path, reads: bool) -> Attempt {
    let until = Instant::now() + RACE;
    let mut last = Stop::blocked("the race was never won");
    while Instant::now() < until {
        let outcome = if reads {
            read(name.join(".aws/credentials"))
        } else {
            // No new file: between two names there may be none.
            OpenOptions::new().append(true).open(name).at("open").and_then(|mut file| {
                file.write_all(b"attacked\n").at("write")?;
                Ok("wrote".to_owned())
            })
        };
        match outcome {
            Ok(text) if reads && text != "own" => return Ok(text),
            Ok(_) => {}
            Err(stop) => last = stop,
        }
    }
    // The writer cannot tell which of the two files it wrote; the harness looks.
    Err(last)
}

fn exchange(a: &Path, b: &Path) -> std::io::Result<()> {
    let (a, b) = (sys::c_path(a)?, sys::c_path(b)?);
    let here = i64::from(libc::AT_FDCWD);
    let flag = i64::from(libc::RENAME_EXCHANGE);
    sys::call(
        libc::SYS_renameat2,
        &mut [Arg::Int(here), Arg::Text(&a), Arg::Int(here), Arg::Text(&b), Arg::Int(flag)],
    )
    .map(drop)
}
