//! Processes that want to run on after the sandbox has ended, and ways to type for the user.

use std::fs::OpenOptions;
use std::io::Write;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use super::{Attack, Evidence, Run};
use crate::outcome::{At, Attempt, Stop};
use crate::sys::{self, Arg};
use crate::targets::Targets;

/// A beat of a process that wants to stay.
const BEAT: Duration = Duration::from_millis(20);

/// The process ends itself after this.
const STAYS: Duration = Duration::from_secs(4);

pub(super) const ATTACKS: &[Attack] = &[
    Attack {
        name: "stay-child",
        says: "Leaves a child behind that goes on after its parent.",
        evidence: Evidence::Outlived,
        run: Run::Do(|targets| stay(targets, |_| Ok(()))),
    },
    Attack {
        name: "stay-setsid",
        says: "Leaves a child behind in a session of its own.",
        evidence: Evidence::Outlived,
        run: Run::Do(|targets| stay(targets, |_| sys::call(libc::SYS_setsid, &mut []).map(drop))),
    },
    Attack {
        name: "stay-daemon",
        says: "Leaves a daemon behind: two forks, a session of its own, no death signal, no streams.",
        evidence: Evidence::Outlived,
        run: Run::Do(|targets| {
            stay(targets, |_| {
                sys::call(libc::SYS_setsid, &mut [])?;
                if sys::fork()?.is_some() {
                    sys::exit(0);
                }
                let death_signal = Arg::Int(libc::PR_SET_PDEATHSIG.into());
                sys::call(libc::SYS_prctl, &mut [death_signal, Arg::Int(0)])?;
                (0..3).for_each(|fd| drop(sys::call(libc::SYS_close, &mut [Arg::Int(fd)])));
                Ok(())
            })
        }),
    },
    Attack {
        name: "stay-deaf",
        says: "Leaves a process behind that ignores each signal that a process can ignore.",
        evidence: Evidence::Outlived,
        run: Run::Do(|targets| {
            stay(targets, |_| {
                // struct sigaction of the kernel with SIG_IGN (1).
                let ignore = sys::words(&[1, 0, 0, 0]);
                for signal in 1..32 {
                    let mut arguments = [Arg::Int(signal), Arg::In(&ignore), Arg::Null, Arg::Int(8)];
                    let _ = sys::call(libc::SYS_rt_sigaction, &mut arguments);
                }
                sys::call(libc::SYS_setsid, &mut []).map(drop)
            })
        }),
    },
    Attack {
        name: "stay-renamed",
        says: "Leaves a process behind with another program, name and process group.",
        evidence: Evidence::Outlived,
        run: Run::Do(|targets| {
            let file = beats(targets)?;
            Command::new("/bin/sh")
                .args([
                    "-c",
                    "i=0; while [ $i -lt 200 ]; do echo x >> \"$1\"; sleep 0.02; i=$((i+1)); done",
                    "sh",
                ])
                .arg(&file)
                .arg0("kworker")
                .process_group(0)
                .stdin(Stdio::null())
                .stdout(Stdio::null())
                .stderr(Stdio::null())
                .spawn()
                .at("spawn")?;
            wait_for(&file)
        }),
    },
    Attack {
        name: "terminal-input",
        says: "Types a command into the user's terminal by TIOCSTI.",
        evidence: Evidence::Typed,
        run: Run::Do(|_| {
            let terminal = OpenOptions::new().read(true).write(true).open("/dev/tty");
            let fd = terminal.as_ref().map_or(0, std::os::fd::AsRawFd::as_raw_fd);
            for byte in b"typed\n" {
                let mut arguments =
                    [Arg::Int(fd.into()), Arg::Int(0x5412), Arg::In(std::slice::from_ref(byte))];
                sys::call(libc::SYS_ioctl, &mut arguments).at("TIOCSTI")?;
            }
            Ok("typed".to_owned())
        }),
    },
    Attack {
        name: "terminal-input-wide",
        says: "Types by TIOCSTI with bits above the 32 that the kernel looks at, which a filter may compare wrongly.",
        evidence: Evidence::Typed,
        run: Run::Do(|_| {
            for byte in b"typed\n" {
                let request = Arg::Int(0x1_0000_5412);
                let mut arguments = [Arg::Int(0), request, Arg::In(std::slice::from_ref(byte))];
                sys::call(libc::SYS_ioctl, &mut arguments).at("TIOCSTI")?;
            }
            Ok("typed".to_owned())
        }),
    },
    Attack {
        name: "terminal-take",
        says: "Makes the user's terminal its own, in a session of its own, by TIOCSCTTY.",
        evidence: Evidence::Claim,
        run: Run::Do(|_| {
            super::in_child(|| {
                sys::call(libc::SYS_setsid, &mut []).at("setsid")?;
                sys::call(libc::SYS_ioctl, &mut [Arg::Int(0), Arg::Int(0x540E), Arg::Int(1)])
                    .at("TIOCSCTTY")?;
                Ok("taken".to_owned())
            })
        }),
    },
    Attack {
        name: "console-paste",
        says: "Asks the machine's console for its state by TIOCLINUX, whose neighbours select and paste.",
        evidence: Evidence::Claim,
        run: Run::Do(|_| {
            let console = OpenOptions::new().read(true).write(true).open("/dev/tty0").at("open /dev/tty0")?;
            // Subcode 6: the state of the shift keys.
            let mut subcode = [6];
            let fd = Arg::Int(std::os::fd::AsRawFd::as_raw_fd(&console).into());
            sys::call(libc::SYS_ioctl, &mut [fd, Arg::Int(0x541C), Arg::Out(&mut subcode)])
                .at("TIOCLINUX")?;
            Ok("answered".to_owned())
        }),
    },
];

fn beats(targets: &Targets) -> Result<PathBuf, Stop> {
    targets.below("work", "beats")
}

/// Leaves a process behind that appends to a file of the workspace.
fn stay(targets: &Targets, prepare: fn(&Path) -> std::io::Result<()>) -> Attempt {
    let file = beats(targets)?;
    if sys::fork().at("fork")?.is_none() {
        if prepare(&file).is_ok() {
            let until = Instant::now() + STAYS;
            while Instant::now() < until {
                let beats = OpenOptions::new().append(true).create(true).open(&file);
                let _ = beats.and_then(|mut beats| beats.write_all(b"x"));
                std::thread::sleep(BEAT);
            }
        }
        sys::exit(0)
    }
    wait_for(&file)
}

/// Waits for the first beat.
fn wait_for(file: &Path) -> Attempt {
    let until = Instant::now() + Duration::from_secs(2);
    while std::fs::metadata(file).map_or(true, |file| file.len() == 0) {
        if Instant::now() > until {
            return Err(Stop::blocked("the process did not start"));
        }
        std::thread::sleep(BEAT);
    }
    Ok("left behind".to_owned())
}
