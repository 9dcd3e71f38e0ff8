//! Device nodes. They are made in the workspace or opened, and never written.

use std::io::Read;
use std::path::Path;

use super::proc::first_open;
use super::{Attack, Evidence, Run};
use crate::outcome::{At, Attempt, Stop};
use crate::sys::{self, Arg};
use crate::targets::Targets;

pub(super) const ATTACKS: &[Attack] = &[
    Attack {
        name: "make-character-device",
        says: "Makes a device node of the kernel's random numbers in the workspace and reads it.",
        evidence: Evidence::Claim,
        run: Run::Do(|targets| make(targets, libc::S_IFCHR, 8)),
    },
    Attack {
        name: "make-block-device",
        says: "Makes a device node of a block device in the workspace.",
        evidence: Evidence::Claim,
        run: Run::Do(|targets| make(targets, libc::S_IFBLK, 0)),
    },
    Attack {
        name: "read-disk",
        says: "Opens the disk of the machine itself, past every file system.",
        evidence: Evidence::Claim,
        run: Run::Do(|_| {
            let disks = ["/dev/sda", "/dev/vda", "/dev/nvme0n1", "/dev/xvda", "/dev/loop0"];
            first_open(&disks, "no disk of a known name")
        }),
    },
    device("read-memory-device", "/dev/mem", "Opens the memory of the machine."),
    device("read-kernel-messages", "/dev/kmsg", "Opens the kernel's messages."),
    device("read-ports", "/dev/port", "Opens the ports of the processor."),
    device("open-fuse", "/dev/fuse", "Opens the device by which a program serves a file system of its own."),
    device("open-kvm", "/dev/kvm", "Opens the device of virtual machines."),
    device("open-tun", "/dev/net/tun", "Opens the device by which a program makes a network interface."),
    device("open-loop", "/dev/loop-control", "Opens the device that makes disks of files."),
    device("open-console", "/dev/tty0", "Opens the machine's console."),
    device("open-uinput", "/dev/uinput", "Opens the device by which a program types as a keyboard."),
];

const fn device(name: &'static str, path: &'static str, says: &'static str) -> Attack {
    Attack { name, says, evidence: Evidence::Claim, run: Run::OpenToRead(path) }
}

/// Makes a node; a character device is also read, since a mount may forbid devices.
fn make(targets: &Targets, kind: libc::mode_t, minor: u32) -> Attempt {
    let node = targets.below("work", "node")?;
    let path = sys::c_path(&node).at("path")?;
    let number = libc::makedev(if kind == libc::S_IFCHR { 1 } else { 7 }, minor);
    sys::call(
        libc::SYS_mknod,
        &mut [
            Arg::Text(&path),
            Arg::Int((kind | 0o600).into()),
            Arg::Int(i64::try_from(number).unwrap_or_default()),
        ],
    )
    .at("mknod")?;
    if kind == libc::S_IFCHR { read_device(&node) } else { Ok("made".to_owned()) }
}

fn read_device(node: &Path) -> Attempt {
    let mut bytes = [0; 8];
    std::fs::File::open(node).at("open the node")?.read_exact(&mut bytes).at("read the node")?;
    if bytes == [0; 8] { Err(Stop::blocked("no random bytes")) } else { Ok("read".to_owned()) }
}
