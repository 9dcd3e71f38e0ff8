//! Numbers of system calls, and the calls that get an error whatever their arguments are.

/// An architecture with a table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Arch {
    /// 64 bits, without x32.
    X86_64,
    /// 64 bits.
    Aarch64,
}

/// Numbers of a call for x86-64 and for aarch64; `NONE` where it does not exist.
pub(super) type Number = (u32, u32);

const NONE: u32 = u32::MAX;

impl Arch {
    /// Returns the architecture of this build.
    pub(super) fn own() -> Option<Arch> {
        if cfg!(target_arch = "x86_64") {
            Some(Arch::X86_64)
        } else if cfg!(target_arch = "aarch64") {
            Some(Arch::Aarch64)
        } else {
            None
        }
    }

    /// Returns the kernel's word for it (AUDIT_ARCH).
    pub(super) fn audit(self) -> u32 {
        match self {
            Arch::X86_64 => 0xc000_003e,
            Arch::Aarch64 => 0xc000_00b7,
        }
    }

    pub(super) fn number(self, number: Number) -> Option<u32> {
        let number = match self {
            Arch::X86_64 => number.0,
            Arch::Aarch64 => number.1,
        };
        Some(number).filter(|number| *number != NONE)
    }
}

pub(super) const CLONE: Number = (56, 220);
pub(super) const UNSHARE: Number = (272, 97);
pub(super) const IOCTL: Number = (16, 29);
pub(super) const PERSONALITY: Number = (135, 92);
pub(super) const SOCKET: Number = (41, 198);
pub(super) const SENDTO: Number = (44, 206);
pub(super) const SENDMSG: Number = (46, 211);
pub(super) const SENDMMSG: Number = (307, 269);
pub(super) const OPEN: Number = (2, NONE);
pub(super) const OPENAT: Number = (257, 56);
pub(super) const CREAT: Number = (85, NONE);
pub(super) const CHMOD: Number = (90, NONE);
pub(super) const FCHMOD: Number = (91, 52);
pub(super) const FCHMODAT: Number = (268, 53);
pub(super) const FCHMODAT2: Number = (452, 452);
pub(super) const MKNOD: Number = (133, NONE);
pub(super) const MKNODAT: Number = (259, 33);
pub(super) const SETPRIORITY: Number = (141, 140);
pub(super) const IOPRIO_SET: Number = (251, 30);

const EPERM: u32 = 1;
/// Programs then use the older call that does the same.
const ENOSYS: u32 = 38;

/// Name, numbers, error.
pub(super) const ANSWERS: &[(&str, Number, u32)] = &[
    // Its flags are in memory, where a filter cannot look; every C library falls back to `clone`.
    ("clone3", (435, 435), ENOSYS),
    // Operations in a ring pass no filter.
    ("io_uring_setup", (425, 425), ENOSYS),
    ("io_uring_enter", (426, 426), ENOSYS),
    ("io_uring_register", (427, 427), ENOSYS),
    // The mode of a new file is in memory: it could have a set-user-ID bit. Programs fall back to `openat`.
    ("openat2", (437, 437), ENOSYS),
    // Other processes.
    ("ptrace", (101, 117), EPERM),
    ("process_vm_readv", (310, 270), EPERM),
    ("process_vm_writev", (311, 271), EPERM),
    ("process_madvise", (440, 440), EPERM),
    ("kcmp", (312, 272), EPERM),
    ("pidfd_getfd", (438, 438), EPERM),
    // Mounts and namespaces.
    ("mount", (165, 40), EPERM),
    ("umount2", (166, 39), EPERM),
    ("pivot_root", (155, 41), EPERM),
    ("chroot", (161, 51), EPERM),
    ("open_tree", (428, 428), EPERM),
    ("move_mount", (429, 429), EPERM),
    ("fsopen", (430, 430), EPERM),
    ("fsconfig", (431, 431), EPERM),
    ("fsmount", (432, 432), EPERM),
    ("fspick", (433, 433), EPERM),
    ("mount_setattr", (442, 442), EPERM),
    ("open_tree_attr", (467, 467), EPERM),
    ("setns", (308, 268), EPERM),
    // Files without their path, past the view of the mounts.
    ("open_by_handle_at", (304, 265), EPERM),
    ("fanotify_init", (300, 262), EPERM),
    // The kernel's keys, which namespaces do not separate wholly.
    ("add_key", (248, 217), EPERM),
    ("request_key", (249, 218), EPERM),
    ("keyctl", (250, 219), EPERM),
    // Programs in the kernel, and large surfaces of it.
    ("bpf", (321, 280), EPERM),
    ("perf_event_open", (298, 241), EPERM),
    ("userfaultfd", (323, 282), EPERM),
    ("init_module", (175, 105), EPERM),
    ("finit_module", (313, 273), EPERM),
    ("delete_module", (176, 106), EPERM),
    ("kexec_load", (246, 104), EPERM),
    ("kexec_file_load", (320, 294), EPERM),
    ("modify_ldt", (154, NONE), EPERM),
    ("uselib", (134, NONE), EPERM),
    ("lookup_dcookie", (212, 18), EPERM),
    ("nfsservctl", (180, 42), EPERM),
    // The machine.
    ("reboot", (169, 142), EPERM),
    ("swapon", (167, 224), EPERM),
    ("swapoff", (168, 225), EPERM),
    ("acct", (163, 89), EPERM),
    ("quotactl", (179, 60), EPERM),
    ("quotactl_fd", (443, 443), EPERM),
    ("settimeofday", (164, 170), EPERM),
    ("clock_settime", (227, 112), EPERM),
    ("clock_adjtime", (305, 266), EPERM),
    ("adjtimex", (159, 171), EPERM),
    ("sethostname", (170, 161), EPERM),
    ("setdomainname", (171, 162), EPERM),
    ("syslog", (103, 116), EPERM),
    ("vhangup", (153, 58), EPERM),
    ("iopl", (172, NONE), EPERM),
    ("ioperm", (173, NONE), EPERM),
];

/// Further calls, where processes outside are within reach: memory, queues and semaphores of all programs of the user. Programs
/// use something else on kernels that are built without them.
pub(super) const OUTSIDE_ANSWERS: &[(&str, Number, u32)] = &[
    ("shmget", (29, 194), ENOSYS),
    ("shmat", (30, 196), ENOSYS),
    ("shmctl", (31, 195), ENOSYS),
    ("semget", (64, 190), ENOSYS),
    ("semop", (65, 193), ENOSYS),
    ("semtimedop", (220, 192), ENOSYS),
    ("semctl", (66, 191), ENOSYS),
    ("msgget", (68, 186), ENOSYS),
    ("msgsnd", (69, 189), ENOSYS),
    ("msgrcv", (70, 188), ENOSYS),
    ("msgctl", (71, 187), ENOSYS),
    ("mq_open", (240, 180), ENOSYS),
    ("mq_unlink", (241, 181), ENOSYS),
];

/// Calls that change limits, scheduling and memory of another process, whose number is the first argument; 0 is the caller.
pub(super) const OUTSIDE_OTHER: &[(&str, Number)] = &[
    ("prlimit64", (302, 261)),
    ("sched_setaffinity", (203, 122)),
    ("sched_setscheduler", (144, 119)),
    ("sched_setparam", (142, 118)),
    ("sched_setattr", (314, 274)),
    ("migrate_pages", (256, 238)),
    ("move_pages", (279, 239)),
];
