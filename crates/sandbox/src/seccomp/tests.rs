//! The filter on a small machine that runs it as the kernel does.

use super::arguments::{AF_INET, AF_INET6, AF_NETLINK, AF_UNIX, EACCES, EAFNOSUPPORT};
use super::table::{Number, OUTSIDE_OTHER};
use super::*;

const ALL: Filter = filter_of(true, Internet::All);

/// Without namespaces.
const OUTSIDE: Filter = Filter { outside: true, ..ALL };

const fn filter_of(unix: bool, internet: Internet) -> Filter {
    Filter { sockets: Sockets { unix, internet }, outside: false }
}

/// Runs a filter on one call.
fn answer(program: &[Instruction], arch: u32, number: u32, arguments: [u64; 6]) -> u32 {
    let mut data = [0_u8; 64];
    data[0..4].copy_from_slice(&number.to_le_bytes());
    data[4..8].copy_from_slice(&arch.to_le_bytes());
    for (index, argument) in arguments.iter().enumerate() {
        data[16 + 8 * index..24 + 8 * index].copy_from_slice(&argument.to_le_bytes());
    }
    let (mut at, mut value) = (0, 0);
    loop {
        let Instruction { code, yes, no, k } = program[at];
        at += 1;
        let mut branch = |condition: bool| at += usize::from(if condition { yes } else { no });
        match code {
            LOAD => value = u32::from_le_bytes(data[k as usize..k as usize + 4].try_into().unwrap()),
            AND => value &= k,
            SKIP => at += k as usize,
            EQUAL => branch(value == k),
            AT_LEAST => branch(value >= k),
            ANY_BIT => branch(value & k != 0),
            RETURN => return k,
            other => panic!("operation {other:#x}"),
        }
    }
}

fn check(request: Filter, number: Number, arguments: [u64; 6], expected: u32) {
    for arch in [Arch::X86_64, Arch::Aarch64] {
        let program = assemble(arch, request);
        let Some(number) = arch.number(number) else { continue };
        assert_eq!(
            answer(&program, arch.audit(), number, arguments),
            expected,
            "{arch:?} {number} {arguments:x?}"
        );
    }
}

#[test]
fn a_call_of_another_abi_ends_the_process() {
    let program = assemble(Arch::X86_64, ALL);
    let i386 = 0x4000_0003;
    assert_eq!(answer(&program, i386, 1, [0; 6]), KILL);
    assert_eq!(answer(&program, Arch::X86_64.audit(), X32, [0; 6]), KILL);
    assert_eq!(answer(&program, Arch::X86_64.audit(), u32::MAX, [0; 6]), KILL);
    assert_eq!(answer(&program, Arch::X86_64.audit(), 0, [0; 6]), ALLOW);
    let arm = 0x4000_0028;
    assert_eq!(answer(&assemble(Arch::Aarch64, ALL), arm, 1, [0; 6]), KILL);
}

#[test]
fn listed_calls_get_an_error_on_each_architecture() {
    for (name, number, error) in ANSWERS.iter().chain(OUTSIDE_ANSWERS) {
        for arch in [Arch::X86_64, Arch::Aarch64] {
            let Some(number) = arch.number(*number) else { continue };
            let given = answer(&assemble(arch, OUTSIDE), arch.audit(), number, [0; 6]);
            assert_eq!(given, ERROR | error, "{name} {arch:?}");
        }
    }
    for (_, number, _) in OUTSIDE_ANSWERS {
        check(ALL, *number, [0; 6], ALLOW);
    }
}

#[test]
fn every_other_call_is_allowed() {
    for arch in [Arch::X86_64, Arch::Aarch64] {
        let program = assemble(arch, ALL);
        let with_answer: Vec<u32> =
            ANSWERS.iter().filter_map(|(_, number, _)| arch.number(*number)).collect();
        let old = [table::OPEN, table::CREAT, table::CHMOD, table::MKNOD];
        let tested: Vec<Number> = WITH_ARGUMENTS.iter().map(|(number, _)| *number).chain(old).collect();
        for number in (0..600).filter(|number| !with_answer.contains(number)) {
            if tested.iter().all(|tested| arch.number(*tested) != Some(number)) {
                assert_eq!(answer(&program, arch.audit(), number, [0; 6]), ALLOW, "{arch:?} {number}");
            }
        }
    }
}

#[test]
fn namespaces_cannot_be_made_and_threads_can() {
    let thread = 0x003d_0f00; // glibc's pthread_create
    let fork = 0x0120_0011;
    check(ALL, table::CLONE, [thread, 0, 0, 0, 0, 0], ALLOW);
    check(ALL, table::CLONE, [fork, 0, 0, 0, 0, 0], ALLOW);
    for bit in [0x0002_0000, 0x0200_0000, 0x0400_0000, 0x0800_0000, 0x1000_0000, 0x2000_0000, 0x4000_0000] {
        check(ALL, table::CLONE, [fork | bit, 0, 0, 0, 0, 0], ERROR | EPERM);
        check(ALL, table::UNSHARE, [bit, 0, 0, 0, 0, 0], ERROR | EPERM);
    }
    check(ALL, table::UNSHARE, [0x80, 0, 0, 0, 0, 0], ERROR | EPERM);
    check(ALL, table::UNSHARE, [0x400, 0, 0, 0, 0, 0], ALLOW); // CLONE_FILES
}

#[test]
fn terminal_input_is_found_in_the_half_that_the_kernel_reads() {
    for request in [0x5412, 0x541c, 0xdead_0000_0000_5412] {
        check(ALL, table::IOCTL, [0, request, 0, 0, 0, 0], ERROR | EPERM);
    }
    check(ALL, table::IOCTL, [0, 0x5413, 0, 0, 0, 0], ALLOW); // TIOCGWINSZ
}

#[test]
fn sockets_follow_the_network() {
    let none = filter_of(false, Internet::None);
    let streams = filter_of(true, Internet::Streams);
    let (refused, unknown) = (ERROR | EACCES, ERROR | EAFNOSUPPORT);
    let cases = [
        // family, type, protocol, then the answer with all, with none, with streams
        (AF_UNIX, 1, 0, ALLOW, refused, ALLOW),
        (AF_INET, 1, 0, ALLOW, refused, ALLOW),
        (AF_INET, 1 | 0o2000000, 6, ALLOW, refused, ALLOW), // SOCK_CLOEXEC
        (AF_INET6, 1, 6, ALLOW, refused, ALLOW),
        (AF_INET, 1, 262, ALLOW, refused, refused), // MPTCP, which Landlock does not check on each kernel
        (AF_INET, 2, 0, ALLOW, refused, refused),
        (AF_INET, 3, 255, ALLOW, refused, refused),
        (AF_NETLINK, 3, 0, ALLOW, ALLOW, ALLOW),        // interfaces
        (AF_NETLINK, 3, 12, unknown, unknown, unknown), // NETLINK_NETFILTER
        (AF_NETLINK, 3, 9, unknown, unknown, unknown),  // NETLINK_AUDIT
        (40, 1, 0, unknown, unknown, unknown),          // AF_VSOCK leaves a network namespace
        (38, 5, 0, unknown, unknown, unknown),          // AF_ALG
        (17, 3, 0, unknown, unknown, unknown),          // AF_PACKET
    ];
    for (family, kind, protocol, all, with_none, with_streams) in cases {
        let arguments = [u64::from(family), kind, protocol, 0, 0, 0];
        check(ALL, table::SOCKET, arguments, all);
        check(none, table::SOCKET, arguments, with_none);
        check(streams, table::SOCKET, arguments, with_streams);
    }
    check(streams, table::SENDTO, [0, 0, 0, 0x2000_4000, 0, 0], ERROR | EPERM);
    check(streams, table::SENDMSG, [0, 0, 0x2000_0000, 0, 0, 0], ERROR | EPERM);
    check(ALL, table::SENDTO, [0, 0, 0, 0x2000_0000, 0, 0], ALLOW);
}

#[test]
fn set_user_and_set_group_ids_are_refused() {
    let refused = ERROR | EPERM;
    let cases = [
        (table::CHMOD, [0, 0o4755, 0, 0, 0, 0], refused),
        (table::CHMOD, [0, 0o2755, 0, 0, 0, 0], refused),
        (table::CHMOD, [0, 0o1777, 0, 0, 0, 0], ALLOW),
        (table::FCHMOD, [0, 0o4000, 0, 0, 0, 0], refused),
        (table::FCHMOD, [0o6000, 0o755, 0, 0, 0, 0], ALLOW),
        (table::FCHMODAT, [0, 0, 0o6755, 0, 0, 0], refused),
        (table::FCHMODAT, [0, 0, 0o644, 0, 0, 0], ALLOW),
        (table::FCHMODAT2, [0, 0, 0o4755, 0, 0, 0], refused),
        (table::CREAT, [0, 0o4755, 0, 0, 0, 0], refused),
        (table::MKNOD, [0, 0o104_755, 0, 0, 0, 0], refused),
        (table::MKNOD, [0, 0o010_644, 0, 0, 0, 0], ALLOW), // a pipe
        (table::MKNODAT, [0, 0, 0o104_755, 0, 0, 0], refused),
        (table::OPEN, [0, 0o101, 0o4755, 0, 0, 0], refused),
        (table::OPEN, [0, 0, 0o4755, 0, 0, 0], ALLOW), // no file is made: the register has anything
        (table::OPENAT, [0, 0, 0o101, 0o2755, 0, 0], refused),
        (table::OPENAT, [0, 0, 0o20_200_002, 0o4755, 0, 0], refused), // O_TMPFILE
        (table::OPENAT, [0, 0, 0o101, 0o644, 0, 0], ALLOW),
    ];
    for (number, arguments, expected) in cases {
        check(ALL, number, arguments, expected);
    }
}

#[test]
fn only_the_caller_itself_changes_without_namespaces() {
    let refused = ERROR | EPERM;
    for (_, number) in OUTSIDE_OTHER {
        check(OUTSIDE, *number, [0; 6], ALLOW);
        check(OUTSIDE, *number, [1234, 0, 0, 0, 0, 0], refused);
        check(ALL, *number, [1234, 0, 0, 0, 0, 0], ALLOW);
    }
    // The kind and the process: a process, a group, a user.
    for (number, [process, group, user]) in [(table::SETPRIORITY, [0, 1, 2]), (table::IOPRIO_SET, [1, 2, 3])]
    {
        check(OUTSIDE, number, [process, 0, 0, 0, 0, 0], ALLOW);
        check(OUTSIDE, number, [process, 1234, 0, 0, 0, 0], refused);
        check(OUTSIDE, number, [group, 0, 0, 0, 0, 0], refused);
        check(OUTSIDE, number, [user, 0, 0, 0, 0, 0], refused);
        check(ALL, number, [user, 0, 0, 0, 0, 0], ALLOW);
    }
}

#[test]
fn odd_personalities_are_refused() {
    check(ALL, table::PERSONALITY, [0xffff_ffff, 0, 0, 0, 0, 0], ALLOW);
    check(ALL, table::PERSONALITY, [0x0040_0000, 0, 0, 0, 0, 0], ERROR | EPERM); // READ_IMPLIES_EXEC
}

/// Calls that are newer than the `libc` crate.
const NEWER: &[&str] = &["open_tree_attr"];

/// Names, and the numbers that the `libc` crate has for the architecture of this build.
macro_rules! of_libc {
    ($($number:ident)*) => { &[$((stringify!($number), libc::$number)),*] };
}

const OF_LIBC: &[(&str, libc::c_long)] = of_libc! {
    SYS_clone3 SYS_io_uring_setup SYS_io_uring_enter SYS_io_uring_register SYS_ptrace SYS_process_vm_readv
    SYS_process_vm_writev SYS_process_madvise SYS_kcmp SYS_pidfd_getfd SYS_mount SYS_umount2 SYS_pivot_root
    SYS_chroot SYS_open_tree SYS_move_mount SYS_fsopen SYS_fsconfig SYS_fsmount SYS_fspick SYS_mount_setattr
    SYS_setns SYS_open_by_handle_at SYS_fanotify_init SYS_add_key SYS_request_key SYS_keyctl SYS_bpf
    SYS_perf_event_open SYS_userfaultfd SYS_init_module SYS_finit_module SYS_delete_module SYS_kexec_load
    SYS_kexec_file_load SYS_lookup_dcookie SYS_nfsservctl SYS_reboot SYS_swapon SYS_swapoff SYS_acct
    SYS_quotactl SYS_quotactl_fd SYS_settimeofday SYS_clock_settime SYS_clock_adjtime SYS_adjtimex
    SYS_sethostname SYS_setdomainname SYS_syslog SYS_vhangup SYS_openat2 SYS_shmget SYS_shmat SYS_shmctl SYS_semget
    SYS_semop SYS_semtimedop SYS_semctl SYS_msgget SYS_msgsnd SYS_msgrcv SYS_msgctl SYS_mq_open SYS_mq_unlink
    SYS_prlimit64 SYS_sched_setaffinity SYS_sched_setscheduler SYS_sched_setparam SYS_sched_setattr SYS_migrate_pages
    SYS_move_pages
};

/// Calls that aarch64 does not have.
#[cfg(target_arch = "x86_64")]
const OF_X86: &[(&str, libc::c_long)] = of_libc! { SYS_modify_ldt SYS_uselib SYS_iopl SYS_ioperm };
#[cfg(not(target_arch = "x86_64"))]
const OF_X86: &[(&str, libc::c_long)] = &[];

/// Calls whose arguments are tested.
const WITH_ARGUMENTS: [(Number, libc::c_long); 15] = [
    (table::CLONE, libc::SYS_clone),
    (table::UNSHARE, libc::SYS_unshare),
    (table::IOCTL, libc::SYS_ioctl),
    (table::PERSONALITY, libc::SYS_personality),
    (table::SOCKET, libc::SYS_socket),
    (table::SENDTO, libc::SYS_sendto),
    (table::SENDMSG, libc::SYS_sendmsg),
    (table::SENDMMSG, libc::SYS_sendmmsg),
    (table::OPENAT, libc::SYS_openat),
    (table::FCHMOD, libc::SYS_fchmod),
    (table::FCHMODAT, libc::SYS_fchmodat),
    (table::FCHMODAT2, libc::SYS_fchmodat2),
    (table::MKNODAT, libc::SYS_mknodat),
    (table::SETPRIORITY, libc::SYS_setpriority),
    (table::IOPRIO_SET, libc::SYS_ioprio_set),
];

/// Calls with tests that aarch64 does not have.
#[cfg(target_arch = "x86_64")]
const OLD: &[(Number, libc::c_long)] = &[
    (table::OPEN, libc::SYS_open),
    (table::CREAT, libc::SYS_creat),
    (table::CHMOD, libc::SYS_chmod),
    (table::MKNOD, libc::SYS_mknod),
];
#[cfg(not(target_arch = "x86_64"))]
const OLD: &[(Number, libc::c_long)] = &[];

#[test]
fn numbers_are_those_of_libc() {
    let arch = Arch::own().unwrap();
    let known = |name: &str| {
        let found = OF_LIBC.iter().chain(OF_X86).find(|(known, _)| known.strip_prefix("SYS_") == Some(name));
        found.map(|(_, number)| *number)
    };
    let answers = ANSWERS.iter().chain(OUTSIDE_ANSWERS).map(|(name, number, _)| (*name, *number));
    for (name, number) in answers.chain(OUTSIDE_OTHER.iter().copied()) {
        if !NEWER.contains(&name) {
            assert_eq!(arch.number(number).map(libc::c_long::from), known(name), "{name}");
        }
    }
    for (number, known) in WITH_ARGUMENTS.iter().chain(OLD) {
        assert_eq!(arch.number(*number).map(libc::c_long::from), Some(*known));
    }
}
