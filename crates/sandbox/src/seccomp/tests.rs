//! The filter on a small machine that runs it as the kernel does.

use super::*;

const ALL: Sockets = Sockets { unix: true, internet: Internet::All };

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

fn check(sockets: Sockets, number: Number, arguments: [u64; 6], expected: u32) {
    for arch in [Arch::X86_64, Arch::Aarch64] {
        let program = assemble(arch, sockets);
        let number = arch.number(number).unwrap();
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
    for (name, number, error) in ANSWERS {
        for arch in [Arch::X86_64, Arch::Aarch64] {
            let Some(number) = arch.number(*number) else { continue };
            let given = answer(&assemble(arch, ALL), arch.audit(), number, [0; 6]);
            assert_eq!(given, ERROR | error, "{name} {arch:?}");
        }
    }
}

#[test]
fn every_other_call_is_allowed() {
    for arch in [Arch::X86_64, Arch::Aarch64] {
        let program = assemble(arch, ALL);
        let with_answer: Vec<u32> =
            ANSWERS.iter().filter_map(|(_, number, _)| arch.number(*number)).collect();
        let tested = [table::CLONE, table::UNSHARE, table::IOCTL, table::PERSONALITY, table::SOCKET];
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
    let none = Sockets { unix: false, internet: Internet::None };
    let streams = Sockets { unix: true, internet: Internet::Streams };
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
        (AF_NETLINK, 3, 0, ALLOW, ALLOW, ALLOW),
        (40, 1, 0, unknown, unknown, unknown), // AF_VSOCK leaves a network namespace
        (38, 5, 0, unknown, unknown, unknown), // AF_ALG
        (17, 3, 0, unknown, unknown, unknown), // AF_PACKET
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
    SYS_sethostname SYS_setdomainname SYS_syslog SYS_vhangup
};

/// Calls that aarch64 does not have.
#[cfg(target_arch = "x86_64")]
const OF_X86: &[(&str, libc::c_long)] = of_libc! { SYS_modify_ldt SYS_uselib SYS_iopl SYS_ioperm };
#[cfg(not(target_arch = "x86_64"))]
const OF_X86: &[(&str, libc::c_long)] = &[];

/// Calls whose arguments are tested.
const WITH_ARGUMENTS: &[(Number, libc::c_long)] = &[
    (table::CLONE, libc::SYS_clone),
    (table::UNSHARE, libc::SYS_unshare),
    (table::IOCTL, libc::SYS_ioctl),
    (table::PERSONALITY, libc::SYS_personality),
    (table::SOCKET, libc::SYS_socket),
    (table::SENDTO, libc::SYS_sendto),
    (table::SENDMSG, libc::SYS_sendmsg),
    (table::SENDMMSG, libc::SYS_sendmmsg),
];

#[test]
fn numbers_are_those_of_libc() {
    let arch = Arch::own().unwrap();
    for (name, number, _) in ANSWERS.iter().filter(|(name, _, _)| !NEWER.contains(name)) {
        let known = OF_LIBC.iter().chain(OF_X86).find(|(known, _)| known.strip_prefix("SYS_") == Some(*name));
        assert_eq!(arch.number(*number).map(libc::c_long::from), known.map(|(_, known)| *known), "{name}");
    }
    for (number, known) in WITH_ARGUMENTS {
        assert_eq!(arch.number(*number).map(libc::c_long::from), Some(*known));
    }
}
