//! New namespaces, which give a process privileges inside them, and the namespaces of others.

use std::fs::File;
use std::os::fd::AsRawFd;

use super::proc::victim;
use super::{Attack, Evidence, Run, after_fork, append, in_child, outside_file, read, secret_file};
use crate::outcome::{At, Attempt};
use crate::sys::{self, Arg};

pub(super) const ATTACKS: &[Attack] = &[
    Attack {
        name: "unshare-user",
        says: "Makes a user namespace by `unshare`, in which it has every privilege.",
        evidence: Evidence::Claim,
        run: Run::Do(|_| unshare(libc::CLONE_NEWUSER)),
    },
    Attack {
        name: "unshare-mounts",
        says: "Makes mounts of its own by `unshare`.",
        evidence: Evidence::Claim,
        run: Run::Do(|_| unshare_or_with_user(libc::CLONE_NEWNS)),
    },
    Attack {
        name: "unshare-network",
        says: "Makes a network of its own by `unshare`, whose firewall code is a large part of the kernel.",
        evidence: Evidence::Claim,
        run: Run::Do(|_| unshare_or_with_user(libc::CLONE_NEWNET)),
    },
    Attack {
        name: "unshare-processes",
        says: "Makes a process namespace of its own by `unshare`.",
        evidence: Evidence::Claim,
        run: Run::Do(|_| unshare_or_with_user(libc::CLONE_NEWPID)),
    },
    Attack {
        name: "clone-user",
        says: "Makes a user namespace by `clone`.",
        evidence: Evidence::Claim,
        run: Run::Do(|_| after_fork(|| sys::clone(libc::CLONE_NEWUSER), || Ok("made".to_owned()))),
    },
    Attack {
        name: "clone3-user",
        says: "Makes a user namespace by `clone3`, whose flags a filter cannot read.",
        evidence: Evidence::Claim,
        run: Run::Do(|_| after_fork(|| sys::clone3(libc::CLONE_NEWUSER), || Ok("made".to_owned()))),
    },
    Attack {
        name: "join-mounts-outside",
        says: "Joins the mounts of a process outside by `setns` and writes a file there.",
        evidence: Evidence::Changed,
        run: Run::Do(|targets| {
            in_child(|| {
                join(&victim(targets, "ns/mnt")?, libc::CLONE_NEWNS)?;
                append(outside_file(targets)?)
            })
        }),
    },
    Attack {
        name: "join-user-outside",
        says: "Joins the user namespace of its parents, step by step, by the descriptor that the kernel gives.",
        evidence: Evidence::Secret,
        run: Run::Do(|targets| {
            in_child(|| {
                let own = File::open("/proc/self/ns/user").at("open the namespace")?;
                // NS_GET_PARENT.
                let parent =
                    sys::open(libc::SYS_ioctl, &mut [Arg::Int(own.as_raw_fd().into()), Arg::Int(0xb702)]);
                if let Ok(parent) = parent {
                    let kind = Arg::Int(libc::CLONE_NEWUSER.into());
                    sys::call(libc::SYS_setns, &mut [Arg::Int(parent.as_raw_fd().into()), kind])
                        .at("setns")?;
                }
                read(secret_file(targets)?)
            })
        }),
    },
    Attack {
        name: "join-network-outside",
        says: "Joins the network of a process outside by `setns`.",
        evidence: Evidence::Claim,
        run: Run::Do(|targets| {
            in_child(|| {
                let outside = victim(targets, "ns/net")?;
                join(&outside, libc::CLONE_NEWNET)?;
                Ok("joined".to_owned())
            })
        }),
    },
    Attack {
        name: "join-pidfd-outside",
        says: "Joins all namespaces of a process outside by a descriptor of the process.",
        evidence: Evidence::Changed,
        run: Run::Do(|targets| {
            in_child(|| {
                let pid = Arg::Int(targets.number("victim-pid")?);
                let process = sys::open(libc::SYS_pidfd_open, &mut [pid, Arg::Int(0)]).at("pidfd_open")?;
                let kinds = i64::from(libc::CLONE_NEWNS | libc::CLONE_NEWNET | libc::CLONE_NEWIPC);
                let mut arguments = [Arg::Int(process.as_raw_fd().into()), Arg::Int(kinds)];
                sys::call(libc::SYS_setns, &mut arguments).at("setns")?;
                append(outside_file(targets)?)
            })
        }),
    },
];

fn unshare(flags: libc::c_int) -> Attempt {
    in_child(|| {
        sys::call(libc::SYS_unshare, &mut [Arg::Int(flags.into())]).at("unshare")?;
        Ok("made".to_owned())
    })
}

/// Privilege comes from a user namespace where the process has none.
fn unshare_or_with_user(flags: libc::c_int) -> Attempt {
    unshare(flags).or_else(|_| unshare(flags | libc::CLONE_NEWUSER))
}

fn join(path: &str, kind: libc::c_int) -> Result<(), crate::outcome::Stop> {
    let namespace = File::open(path).at("open the namespace")?;
    let mut arguments = [Arg::Int(namespace.as_raw_fd().into()), Arg::Int(kind.into())];
    sys::call(libc::SYS_setns, &mut arguments).at("setns").map(drop)
}
