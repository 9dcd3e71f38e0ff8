//! Ways to more privileges.

use std::process::Command;

use super::{Attack, Evidence, Run, in_child, read};
use crate::outcome::{At, Attempt, Stop};
use crate::sys::{self, Arg};
use crate::targets::Targets;

pub(super) const ATTACKS: &[Attack] = &[
    Attack {
        name: "setuid-program",
        says: "Starts a program of another user with the set-user-ID bit.",
        evidence: Evidence::Claim,
        run: Run::Do(|targets| {
            let own = effective_user(&read("/proc/self/status")?)?;
            let program = targets.text_of("setuid-program")?;
            let output = Command::new(program).arg("--status").output().at("start")?;
            let user = effective_user(&String::from_utf8_lossy(&output.stdout))?;
            if user == own { Err(Stop::blocked("the user stayed the same")) } else { Ok(user) }
        }),
    },
    Attack {
        name: "setuid-own",
        says: "Gives its own copy of a program the set-user-ID bit, for the user of the sandbox outside.",
        evidence: Evidence::Claim,
        run: Run::Do(|targets| {
            let own = targets.below("work", "own-program")?;
            std::fs::copy("/proc/self/exe", &own).at("copy")?;
            let mode = std::os::unix::fs::PermissionsExt::from_mode(0o4755);
            std::fs::set_permissions(&own, mode).at("chmod")?;
            Ok(own.display().to_string())
        }),
    },
    Attack {
        name: "setuid-new",
        says: "Makes a program with the set-user-ID bit at once, in each way that takes a mode.",
        evidence: Evidence::Claim,
        run: Run::Do(|targets| set_ids_of_new(targets, 0o4755)),
    },
    Attack {
        name: "setgid-new",
        says: "Makes a program with the set-group-ID bit at once, in each way that takes a mode.",
        evidence: Evidence::Claim,
        run: Run::Do(|targets| set_ids_of_new(targets, 0o2755)),
    },
    Attack {
        name: "file-capabilities",
        says: "Starts a program whose file gives the capability of raw sockets, and drops all others before.",
        evidence: Evidence::Claim,
        run: Run::Do(|targets| {
            let program = targets.text_of("capable-program")?;
            let output = Command::new(program).arg("--status").output().at("start")?;
            let status = String::from_utf8_lossy(&output.stdout).into_owned();
            let line = status.lines().find_map(|line| line.strip_prefix("CapEff:"));
            let effective = u64::from_str_radix(line.unwrap_or_default().trim(), 16)
                .map_err(|_| Stop::blocked("the program did not start"))?;
            // CAP_NET_RAW.
            if effective & (1 << 13) == 0 {
                return Err(Stop::blocked("the program has not got the capability"));
            }
            Ok(format!("{effective:x}"))
        }),
    },
    Attack {
        name: "new-privileges",
        says: "Looks at whether programs with set-user-ID bits would give privileges at all.",
        evidence: Evidence::Claim,
        run: Run::Do(|_| {
            let mut arguments = [
                Arg::Int(libc::PR_GET_NO_NEW_PRIVS.into()),
                Arg::Int(0),
                Arg::Int(0),
                Arg::Int(0),
                Arg::Int(0),
            ];
            let none = sys::call(libc::SYS_prctl, &mut arguments).at("prctl")?;
            if none == 0 { Ok("yes".to_owned()) } else { Err(Stop::blocked("no new privileges")) }
        }),
    },
    Attack {
        name: "become-other-user",
        says: "Becomes another user of the machine by `setresuid`.",
        evidence: Evidence::Claim,
        run: Run::Do(|_| {
            in_child(|| {
                let user = Arg::Int(12_345);
                sys::call(libc::SYS_setresuid, &mut [user, Arg::Int(12_345), Arg::Int(12_345)])
                    .at("setresuid")?;
                Ok("became 12345".to_owned())
            })
        }),
    },
    Attack {
        name: "give-away",
        says: "Gives a file of the workspace to another user, as an installer of set-user-ID programs does.",
        evidence: Evidence::Claim,
        run: Run::Do(|targets| {
            let own = targets.below("work", "given")?;
            std::fs::write(&own, "x").at("write in the workspace")?;
            std::os::unix::fs::chown(&own, Some(12_345), None).at("chown")?;
            Ok("given".to_owned())
        }),
    },
    Attack {
        name: "clear-filter",
        says: "Installs a system call filter that allows everything, and calls `keyctl` after it.",
        evidence: Evidence::Claim,
        run: Run::Do(|_| in_child(|| allow_everything().and_then(|()| super::kernel::keyring()))),
    },
];

/// Makes files by each call that takes a mode, and looks at their modes.
fn set_ids_of_new(targets: &Targets, mode: u32) -> Attempt {
    let here = libc::AT_FDCWD.into();
    let flags = (libc::O_CREAT | libc::O_WRONLY).into();
    let how = sys::words(&[u64::from(libc::O_CREAT.cast_unsigned() | 1), mode.into(), 0]);
    let how_bytes = i64::try_from(how.len()).unwrap_or(0);
    let mut made = Vec::new();
    let mut stop = Stop::blocked("no file has the bit");
    for way in ["openat2", "fchmodat2", "mknodat", "openat"] {
        let file = targets.below("work", format!("new-program-{way}-{mode:o}"))?;
        let path = sys::c_path(&file).at("path")?;
        let (number, rest) = match way {
            "openat2" => (libc::SYS_openat2, [Arg::In(&how), Arg::Int(how_bytes)]),
            "mknodat" => (libc::SYS_mknodat, [Arg::Int((libc::S_IFREG | mode).into()), Arg::Int(0)]),
            "openat" => (libc::SYS_openat, [Arg::Int(flags), Arg::Int(mode.into())]),
            _ => {
                std::fs::write(&file, "x").at("write in the workspace")?;
                (libc::SYS_fchmodat2, [Arg::Int(mode.into()), Arg::Int(0)])
            }
        };
        let [third, fourth] = rest;
        let done = sys::call(number, &mut [Arg::Int(here), Arg::Text(&path), third, fourth]);
        if let Err(error) = done {
            stop = Err::<(), _>(error).at(way).err().unwrap_or(stop);
        }
        let found = std::fs::metadata(&file).map_or(0, |found| std::os::unix::fs::MetadataExt::mode(&found));
        if found & 0o6000 != 0 {
            made.push(way);
        }
    }
    if made.is_empty() { Err(stop) } else { Ok(made.join(" ")) }
}

/// The effective user in the text of /proc/PID/status.
fn effective_user(status: &str) -> Attempt {
    let line = status.lines().find_map(|line| line.strip_prefix("Uid:"));
    let user = line.and_then(|line| line.split_whitespace().nth(1));
    user.map(str::to_owned).ok_or_else(|| Stop::blocked("the program did not start"))
}

fn allow_everything() -> Result<(), Stop> {
    let mut no_privileges =
        [Arg::Int(libc::PR_SET_NO_NEW_PRIVS.into()), Arg::Int(1), Arg::Int(0), Arg::Int(0), Arg::Int(0)];
    sys::call(libc::SYS_prctl, &mut no_privileges).at("prctl")?;
    // struct sock_filter: `return SECCOMP_RET_ALLOW`.
    let instruction = [0x06_u8, 0, 0, 0, 0, 0, 0xff, 0x7f];
    let filter = sys::words(&[1, instruction.as_ptr() as u64]);
    sys::call(libc::SYS_seccomp, &mut [Arg::Int(1), Arg::Int(0), Arg::In(&filter)]).at("seccomp")?;
    Ok(())
}
