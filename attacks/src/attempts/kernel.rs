//! Interfaces of the kernel that agents do not need, and in which most of its holes were. An attempt goes just so far that a
//! refusal would have come: it uses empty or wrong arguments, which change nothing.

use std::fs::File;
use std::os::fd::AsRawFd;

use super::{Attack, Evidence, Run, in_child, read_all, secret_file};
use crate::outcome::{At, Attempt};
use crate::sys::{self, Arg};

pub(super) const ATTACKS: &[Attack] = &[
    Attack {
        name: "keyring",
        says: "Makes a keyring by `keyctl`: keyrings are no files, and no namespace divides them completely.",
        evidence: Evidence::Claim,
        run: Run::Do(|_| in_child(keyring)),
    },
    Attack {
        name: "add-key",
        says: "Stores a key in the kernel by `add_key`.",
        evidence: Evidence::Claim,
        run: Run::Do(|_| {
            let process_keyring = Arg::Int(-2);
            let (kind, name) = (Arg::Text(c"user"), Arg::Text(c"castellan-attack"));
            sys::call(libc::SYS_add_key, &mut [kind, name, Arg::In(b"x"), Arg::Int(1), process_keyring])
                .at("add_key")?;
            Ok("stored".to_owned())
        }),
    },
    Attack {
        name: "bpf",
        says: "Asks the kernel for a BPF map.",
        evidence: Evidence::Claim,
        run: Run::Do(|_| {
            // BPF_MAP_CREATE of an array: type 2, key 4 bytes, value 4 bytes, 1 entry.
            let mut attributes = [0_u8; 72];
            let fields = [2_u32, 4, 4, 1].map(u32::to_ne_bytes).concat();
            attributes.iter_mut().zip(fields).for_each(|(to, from)| *to = from);
            sys::open(libc::SYS_bpf, &mut [Arg::Int(0), Arg::In(&attributes), Arg::Int(72)]).at("bpf")?;
            Ok("made".to_owned())
        }),
    },
    Attack {
        name: "perf-events",
        says: "Opens a counter of its own process by `perf_event_open`.",
        evidence: Evidence::Claim,
        run: Run::Do(|_| {
            // struct perf_event_attr: PERF_TYPE_SOFTWARE, 112 bytes; excludes the kernel and the hypervisor.
            let mut attributes = vec![0_u8; 112];
            let head = [1_u32, 112].map(u32::to_ne_bytes).concat();
            attributes.iter_mut().zip(head).for_each(|(to, from)| *to = from);
            if let Some(flags) = attributes.get_mut(40) {
                *flags = 0x60;
            }
            sys::open(
                libc::SYS_perf_event_open,
                &mut [Arg::In(&attributes), Arg::Int(0), Arg::Int(-1), Arg::Int(-1), Arg::Int(0)],
            )
            .at("perf_event_open")?;
            Ok("opened".to_owned())
        }),
    },
    Attack {
        name: "userfaultfd",
        says: "Makes a handler of page faults, by which exploits stop the kernel at a chosen place.",
        evidence: Evidence::Claim,
        run: Run::Do(|_| {
            // UFFD_USER_MODE_ONLY: allowed without privilege.
            sys::open(libc::SYS_userfaultfd, &mut [Arg::Int(1)]).at("userfaultfd")?;
            Ok("made".to_owned())
        }),
    },
    Attack {
        name: "open-by-handle",
        says: "Opens a secret by its number in the file system, past every path.",
        evidence: Evidence::Secret,
        run: Run::Do(|targets| {
            let path = sys::c_path(secret_file(targets)?).at("path")?;
            let mut handle = [0_u8; 8 + 128];
            let size = 128_u32.to_ne_bytes();
            handle.iter_mut().zip(size).for_each(|(to, from)| *to = from);
            let mut mount = [0; 4];
            let here = Arg::Int(libc::AT_FDCWD.into());
            sys::call(
                libc::SYS_name_to_handle_at,
                &mut [here, Arg::Text(&path), Arg::Out(&mut handle), Arg::Out(&mut mount), Arg::Int(0)],
            )
            .at("name_to_handle_at")?;
            let root = File::open(targets.below("work", "")?).at("open the workspace")?;
            let file = sys::open(
                libc::SYS_open_by_handle_at,
                &mut [Arg::Int(root.as_raw_fd().into()), Arg::In(&handle), Arg::Int(0)],
            )
            .at("open_by_handle_at")?;
            read_all(File::from(file))
        }),
    },
    Attack {
        name: "personality",
        says: "Switches the random addresses of programs off by `personality`.",
        evidence: Evidence::Claim,
        run: Run::Do(|_| {
            in_child(|| {
                let fixed = Arg::Int(libc::ADDR_NO_RANDOMIZE.into());
                sys::call(libc::SYS_personality, &mut [fixed]).at("personality")?;
                Ok("switched".to_owned())
            })
        }),
    },
    Attack {
        name: "load-module",
        says: "Has the kernel look at a module, which is none.",
        evidence: Evidence::Claim,
        run: Run::Do(|_| {
            let mut arguments = [Arg::In(b"no module at all"), Arg::Int(16), Arg::Text(c"")];
            past(sys::call(libc::SYS_init_module, &mut arguments), "init_module", &[libc::ENOEXEC])
        }),
    },
    Attack {
        name: "load-kernel",
        says: "Has the kernel look at another kernel to start, without one.",
        evidence: Evidence::Claim,
        run: Run::Do(|_| {
            let mut arguments = [Arg::Int(-1), Arg::Int(-1), Arg::Int(0), Arg::Null, Arg::Int(0)];
            let refused = [libc::EBADF, libc::EINVAL];
            past(sys::call(libc::SYS_kexec_file_load, &mut arguments), "kexec_file_load", &refused)
        }),
    },
    Attack {
        name: "swap",
        says: "Has the kernel swap to a file that does not exist.",
        evidence: Evidence::Claim,
        run: Run::Do(|_| {
            let mut arguments = [Arg::Text(c"/nowhere/castellan"), Arg::Int(0)];
            past(sys::call(libc::SYS_swapon, &mut arguments), "swapon", &[libc::ENOENT])
        }),
    },
    Attack {
        name: "quota",
        says: "Asks for the quota of another user.",
        evidence: Evidence::Claim,
        run: Run::Do(|targets| {
            let work = File::open(targets.below("work", "")?).at("open the workspace")?;
            let mut quota = [0; 128];
            // Q_GETQUOTA for users. Without quotas the kernel says so after it has asked for the privilege.
            let command = Arg::Int(0x8000_0700);
            let fd = Arg::Int(work.as_raw_fd().into());
            let mut arguments = [fd, command, Arg::Int(12_345), Arg::Out(&mut quota)];
            past(sys::call(libc::SYS_quotactl_fd, &mut arguments), "quotactl_fd", &[libc::ESRCH])
        }),
    },
    Attack {
        name: "kernel-log",
        says: "Reads the kernel's log by `syslog`.",
        evidence: Evidence::Claim,
        run: Run::Do(|_| {
            let mut text = [0; 256];
            sys::call(libc::SYS_syslog, &mut [Arg::Int(3), Arg::Out(&mut text), Arg::Int(256)])
                .at("syslog")?;
            Ok("read".to_owned())
        }),
    },
    Attack {
        name: "set-clock",
        says: "Sets how fast the machine's clock goes, to a value that is none.",
        evidence: Evidence::Claim,
        run: Run::Alone(|| {
            // struct timex: ADJ_TICK with 0, which is refused as invalid after the privilege was asked for.
            let mut values = [0_u8; 256];
            values.iter_mut().zip(0x4000_u32.to_ne_bytes()).for_each(|(to, from)| *to = from);
            past(sys::call(libc::SYS_adjtimex, &mut [Arg::Out(&mut values)]), "adjtimex", &[libc::EINVAL])
        }),
    },
    Attack {
        name: "port-access",
        says: "Takes the right to a port of the processor by `ioperm`.",
        evidence: Evidence::Claim,
        run: Run::Do(|_| {
            in_child(|| {
                let mut arguments = [Arg::Int(0x80), Arg::Int(1), Arg::Int(1)];
                sys::call(libc::SYS_ioperm, &mut arguments).at("ioperm")?;
                Ok("taken".to_owned())
            })
        }),
    },
    Attack {
        name: "watch-outside",
        says: "Watches by inotify which secrets the user opens.",
        evidence: Evidence::Claim,
        run: Run::Do(|targets| {
            let watch = sys::open(libc::SYS_inotify_init1, &mut [Arg::Int(0)]).at("inotify_init1")?;
            let home = sys::c_path(targets.below("home", ".ssh")?).at("path")?;
            let events = Arg::Int(libc::IN_OPEN.into());
            let fd = Arg::Int(watch.as_raw_fd().into());
            sys::call(libc::SYS_inotify_add_watch, &mut [fd, Arg::Text(&home), events])
                .at("inotify_add_watch")?;
            // A folder of the sandbox's own has nothing to watch.
            std::fs::metadata(targets.below("home", ".ssh/id_ed25519")?).at("look at the key")?;
            Ok("watched".to_owned())
        }),
    },
    Attack {
        name: "watch-everything",
        says: "Makes a fanotify group that may refuse other programs their files.",
        evidence: Evidence::Claim,
        run: Run::Do(|_| {
            // FAN_CLASS_CONTENT.
            let mut arguments = [Arg::Int(4), Arg::Int(0)];
            sys::open(libc::SYS_fanotify_init, &mut arguments).at("fanotify_init")?;
            Ok("made".to_owned())
        }),
    },
    Attack {
        name: "segment-table",
        says: "Changes its segment table by `modify_ldt`, an old interface with many holes.",
        evidence: Evidence::Claim,
        run: Run::Do(|_| {
            let mut entries = [0; 64];
            let mut arguments = [Arg::Int(0), Arg::Out(&mut entries), Arg::Int(64)];
            sys::call(libc::SYS_modify_ldt, &mut arguments).at("modify_ldt")?;
            Ok("read".to_owned())
        }),
    },
];

/// A keyring of its own. The child that makes it ends soon.
pub(super) fn keyring() -> Attempt {
    // KEYCTL_JOIN_SESSION_KEYRING.
    sys::call(libc::SYS_keyctl, &mut [Arg::Int(1), Arg::Null]).at("keyctl")?;
    Ok("made".to_owned())
}

/// An error after the check of privileges is a success: the arguments were wrong on purpose.
fn past(result: std::io::Result<i64>, step: &str, errors: &[libc::c_int]) -> Attempt {
    match result {
        Ok(_) => Ok("done".to_owned()),
        Err(error) if error.raw_os_error().is_some_and(|errno| errors.contains(&errno)) => {
            Ok(format!("reached: {error}"))
        }
        Err(error) => Err(error).at(step),
    }
}
