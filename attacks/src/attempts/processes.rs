//! Attacks on processes outside: signals, traces, memory, priorities.

use std::fs::File;
use std::time::Duration;

use super::proc::address;
use super::{Attack, Evidence, Run, in_child, read_all};
use crate::outcome::{At, Attempt, Stop};
use crate::sys::{self, Arg};
use crate::targets::Targets;

pub(super) const ATTACKS: &[Attack] = &[
    Attack {
        name: "signal-outside",
        says: "Ends a process outside by a signal.",
        evidence: Evidence::Victim,
        run: Run::Do(|targets| {
            sys::call(libc::SYS_kill, &mut [pid(targets)?, Arg::Int(libc::SIGKILL.into())]).at("kill")?;
            Ok("killed".to_owned())
        }),
    },
    Attack {
        name: "signal-thread-outside",
        says: "Stops a process outside by a signal to its thread.",
        evidence: Evidence::Victim,
        run: Run::Do(|targets| {
            sys::call(libc::SYS_tgkill, &mut [pid(targets)?, pid(targets)?, Arg::Int(libc::SIGSTOP.into())])
                .at("tgkill")?;
            Ok("stopped".to_owned())
        }),
    },
    Attack {
        name: "signal-queued-outside",
        says: "Ends a process outside by a queued signal.",
        evidence: Evidence::Victim,
        run: Run::Do(|targets| {
            // siginfo_t with SI_QUEUE (-1) as its code.
            let mut info = [0_u8; 128];
            for (to, from) in info.iter_mut().skip(8).zip((-1_i32).to_ne_bytes()) {
                *to = from;
            }
            sys::call(
                libc::SYS_rt_sigqueueinfo,
                &mut [pid(targets)?, Arg::Int(libc::SIGKILL.into()), Arg::In(&info)],
            )
            .at("rt_sigqueueinfo")?;
            Ok("killed".to_owned())
        }),
    },
    Attack {
        name: "signal-pidfd-outside",
        says: "Ends a process outside by a descriptor of it.",
        evidence: Evidence::Victim,
        run: Run::Do(|targets| {
            let fd = sys::open(libc::SYS_pidfd_open, &mut [pid(targets)?, Arg::Int(0)]).at("pidfd_open")?;
            let fd = Arg::Int(std::os::fd::AsRawFd::as_raw_fd(&fd).into());
            sys::call(
                libc::SYS_pidfd_send_signal,
                &mut [fd, Arg::Int(libc::SIGKILL.into()), Arg::Null, Arg::Int(0)],
            )
            .at("pidfd_send_signal")?;
            Ok("killed".to_owned())
        }),
    },
    Attack {
        name: "signal-io-owner",
        says: "Makes a process outside the owner of a pipe, so that the kernel itself signals it.",
        evidence: Evidence::Victim,
        run: Run::Do(signal_by_owner),
    },
    Attack {
        name: "ptrace-attach-outside",
        says: "Attaches to a process outside as a debugger, which stops it.",
        evidence: Evidence::Victim,
        run: Run::Do(|targets| trace(targets, libc::PTRACE_ATTACH)),
    },
    Attack {
        name: "ptrace-seize-outside",
        says: "Seizes a process outside as a debugger and reads its memory.",
        evidence: Evidence::Secret,
        run: Run::Do(|targets| {
            trace(targets, libc::PTRACE_SEIZE)?;
            let interrupt = Arg::Int(libc::PTRACE_INTERRUPT.into());
            sys::call(libc::SYS_ptrace, &mut [interrupt, pid(targets)?, Arg::Null, Arg::Null])
                .at("ptrace interrupt")?;
            let victim = i32::try_from(targets.number("victim-pid")?).unwrap_or(-1);
            sys::wait(victim, libc::__WALL).at("wait")?;
            let mut read = Vec::new();
            for word in 0..16 {
                let from = Arg::Int(i64::try_from(address(targets)?).unwrap_or(0) + word * 8);
                let mut value = [0; 8];
                sys::call(
                    libc::SYS_ptrace,
                    &mut [Arg::Int(libc::PTRACE_PEEKDATA.into()), pid(targets)?, from, Arg::Out(&mut value)],
                )
                .at("ptrace peek")?;
                read.extend(value);
            }
            Ok(String::from_utf8_lossy(&read).into_owned())
        }),
    },
    Attack {
        name: "ptrace-sibling",
        says: "Attaches to another process of its own as a debugger: a debugger steers what it may not do itself.",
        evidence: Evidence::Claim,
        run: Run::Do(|_| {
            let Some(child) = sys::fork().at("fork")? else {
                std::thread::sleep(Duration::from_secs(2));
                sys::exit(0)
            };
            let attach = Arg::Int(libc::PTRACE_SEIZE.into());
            let traced =
                sys::call(libc::SYS_ptrace, &mut [attach, Arg::Int(child.into()), Arg::Null, Arg::Null]);
            let _ = sys::call(libc::SYS_kill, &mut [Arg::Int(child.into()), Arg::Int(libc::SIGKILL.into())]);
            let _ = sys::wait(child, 0);
            traced.at("ptrace seize")?;
            Ok("traced".to_owned())
        }),
    },
    Attack {
        name: "ptrace-traceme",
        says: "Asks to be traced by its parent.",
        evidence: Evidence::Claim,
        run: Run::Do(|_| {
            in_child(|| {
                let me = Arg::Int(libc::PTRACE_TRACEME.into());
                sys::call(libc::SYS_ptrace, &mut [me, Arg::Null, Arg::Null, Arg::Null])
                    .at("ptrace traceme")?;
                Ok("traced".to_owned())
            })
        }),
    },
    Attack {
        name: "read-memory-outside",
        says: "Reads the memory of a process outside by `process_vm_readv`.",
        evidence: Evidence::Secret,
        run: Run::Do(|targets| {
            let mut bytes = [0_u8; 128];
            let local = sys::words(&[bytes.as_mut_ptr() as u64, 128]);
            let remote = sys::words(&[address(targets)?, 128]);
            copy(targets, libc::SYS_process_vm_readv, &local, &remote)?;
            Ok(String::from_utf8_lossy(std::hint::black_box(&bytes)).into_owned())
        }),
    },
    Attack {
        name: "write-memory-outside",
        says: "Writes the memory of a process outside by `process_vm_writev`.",
        evidence: Evidence::Victim,
        run: Run::Do(|targets| {
            let bytes = *b"ATTACKED";
            let local = sys::words(&[bytes.as_ptr() as u64, 8]);
            let remote = sys::words(&[address(targets)?, 8]);
            copy(targets, libc::SYS_process_vm_writev, &local, &remote)?;
            Ok("written".to_owned())
        }),
    },
    Attack {
        name: "take-descriptor-outside",
        says: "Takes a descriptor of the secret out of a process outside by `pidfd_getfd`.",
        evidence: Evidence::Secret,
        run: Run::Do(|targets| {
            let process =
                sys::open(libc::SYS_pidfd_open, &mut [pid(targets)?, Arg::Int(0)]).at("pidfd_open")?;
            let taken = sys::open(
                libc::SYS_pidfd_getfd,
                &mut [
                    Arg::Int(std::os::fd::AsRawFd::as_raw_fd(&process).into()),
                    Arg::Int(targets.number("victim-fd")?),
                    Arg::Int(0),
                ],
            )
            .at("pidfd_getfd")?;
            let mut file = File::from(taken);
            std::io::Seek::rewind(&mut file).at("seek")?;
            read_all(file)
        }),
    },
    Attack {
        name: "compare-outside",
        says: "Compares its kernel objects with those of a process outside by `kcmp`.",
        evidence: Evidence::Claim,
        run: Run::Do(|targets| {
            let own = Arg::Int(std::process::id().into());
            // KCMP_VM.
            sys::call(libc::SYS_kcmp, &mut [own, pid(targets)?, Arg::Int(1), Arg::Int(0), Arg::Int(0)])
                .at("kcmp")?;
            Ok("compared".to_owned())
        }),
    },
    Attack {
        name: "limit-outside",
        says: "Takes the open files of a process outside away by `prlimit`.",
        evidence: Evidence::Claim,
        run: Run::Do(|targets| {
            let limits = sys::words(&[64, 64]);
            sys::call(
                libc::SYS_prlimit64,
                &mut [pid(targets)?, Arg::Int(libc::RLIMIT_NOFILE.into()), Arg::In(&limits), Arg::Null],
            )
            .at("prlimit")?;
            Ok("limited".to_owned())
        }),
    },
    Attack {
        name: "priority-outside",
        says: "Gives a process outside the lowest priority.",
        evidence: Evidence::Claim,
        run: Run::Do(|targets| {
            sys::call(libc::SYS_setpriority, &mut [Arg::Int(0), pid(targets)?, Arg::Int(19)])
                .at("setpriority")?;
            Ok("slowed".to_owned())
        }),
    },
    Attack {
        name: "processor-outside",
        says: "Ties a process outside to one processor.",
        evidence: Evidence::Claim,
        run: Run::Do(|targets| {
            let mask = sys::words(&[1]);
            sys::call(libc::SYS_sched_setaffinity, &mut [pid(targets)?, Arg::Int(8), Arg::In(&mask)])
                .at("sched_setaffinity")?;
            Ok("tied".to_owned())
        }),
    },
    Attack {
        name: "reclaim-outside",
        says: "Has the kernel throw the memory of a process outside out by `process_madvise`.",
        evidence: Evidence::Claim,
        run: Run::Do(|targets| {
            let process =
                sys::open(libc::SYS_pidfd_open, &mut [pid(targets)?, Arg::Int(0)]).at("pidfd_open")?;
            let page = address(targets)? & !4095;
            let remote = sys::words(&[page, 4096]);
            let process = Arg::Int(std::os::fd::AsRawFd::as_raw_fd(&process).into());
            let cold = Arg::Int(libc::MADV_COLD.into());
            sys::call(
                libc::SYS_process_madvise,
                &mut [process, Arg::In(&remote), Arg::Int(1), cold, Arg::Int(0)],
            )
            .at("process_madvise")?;
            Ok("advised".to_owned())
        }),
    },
];

fn pid(targets: &Targets) -> Result<Arg<'static>, Stop> {
    Ok(Arg::Int(targets.number("victim-pid")?))
}

fn trace(targets: &Targets, request: libc::c_uint) -> Attempt {
    sys::call(libc::SYS_ptrace, &mut [Arg::Int(request.into()), pid(targets)?, Arg::Null, Arg::Null])
        .at("ptrace")?;
    Ok("traced".to_owned())
}

fn copy(targets: &Targets, number: libc::c_long, local: &[u8], remote: &[u8]) -> Result<(), Stop> {
    let mut arguments =
        [pid(targets)?, Arg::In(local), Arg::Int(1), Arg::In(remote), Arg::Int(1), Arg::Int(0)];
    let copied = sys::call(number, &mut arguments).at("copy")?;
    if copied > 0 { Ok(()) } else { Err(Stop::blocked("nothing was copied")) }
}

/// SIGKILL as the signal of a pipe that becomes readable.
fn signal_by_owner(targets: &Targets) -> Attempt {
    let (from, mut to) = std::io::pipe().at("pipe")?;
    let fd = i64::from(std::os::fd::AsRawFd::as_raw_fd(&from));
    let fcntl = |command: libc::c_int, value: i64| {
        let mut arguments = [Arg::Int(fd), Arg::Int(command.into()), Arg::Int(value)];
        sys::call(libc::SYS_fcntl, &mut arguments)
    };
    fcntl(libc::F_SETOWN, targets.number("victim-pid")?).at("F_SETOWN")?;
    // F_SETSIG.
    fcntl(10, libc::SIGKILL.into()).at("F_SETSIG")?;
    fcntl(libc::F_SETFL, libc::O_ASYNC.into()).at("O_ASYNC")?;
    std::io::Write::write_all(&mut to, b"x").at("write")?;
    Ok("signalled".to_owned())
}
