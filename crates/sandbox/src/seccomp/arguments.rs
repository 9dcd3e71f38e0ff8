//! Tests of the arguments of system calls, each ending in an answer.

use super::table::{self, Number, OUTSIDE_OTHER};
use super::{
    ALLOW, AND, ANY_BIT, EPERM, EQUAL, ERROR, Filter, Internet, Sockets, argument, give, jump, load,
};
use crate::plan::Instruction;

pub(super) const EACCES: u32 = 13;
pub(super) const EAFNOSUPPORT: u32 = 97;

/// CLONE_NEW* of all namespaces. CLONE_NEWTIME is a bit of the exit signal in `clone`, so it is for `unshare` alone.
const NEW_NAMESPACES: u32 =
    0x0002_0000 | 0x0200_0000 | 0x0400_0000 | 0x0800_0000 | 0x1000_0000 | 0x2000_0000 | 0x4000_0000;
const NEW_TIME_NAMESPACE: u32 = 0x80;

/// `ioctl` requests that put input into a terminal: TIOCSTI, and TIOCLINUX for consoles.
const TERMINAL_INPUT: [u32; 2] = [0x5412, 0x541c];

/// `personality` values that programs use: Linux, without randomised addresses (debuggers), and the question.
const PERSONALITIES: [u32; 3] = [0, 0x0004_0000, 0xffff_ffff];

pub(super) const AF_UNIX: u32 = 1;
pub(super) const AF_INET: u32 = 2;
pub(super) const AF_INET6: u32 = 10;
pub(super) const AF_NETLINK: u32 = 16;
const SOCK_STREAM: u32 = 1;
const SOCK_TYPE_MASK: u32 = 0xf;
const IPPROTO_TCP: u32 = 6;
const NETLINK_ROUTE: u32 = 0;
const MSG_FASTOPEN: u32 = 0x2000_0000;

/// S_ISUID and S_ISGID: a file with them gives the rights of its owner to whoever starts it outside.
const SET_IDS: u32 = 0o6000;

/// O_CREAT and the bit of O_TMPFILE. Without them a call to `open` has no mode.
const CREATES: u32 = 0o100 | 0o20_000_000;

/// PRIO_PROCESS and IOPRIO_WHO_PROCESS: the third argument is one process. Other kinds are groups and users.
const PRIORITY_OF_PROCESS: u32 = 0;
const IO_PRIORITY_OF_PROCESS: u32 = 1;

/// Calls and their tests.
pub(super) fn blocks(request: Filter) -> Vec<(Number, Vec<Instruction>)> {
    let mut blocks = vec![
        (table::CLONE, refuse_bits(0, NEW_NAMESPACES, EPERM)),
        (table::UNSHARE, refuse_bits(0, NEW_NAMESPACES | NEW_TIME_NAMESPACE, EPERM)),
        (table::IOCTL, refuse_values(1, &TERMINAL_INPUT, EPERM)),
        (table::PERSONALITY, accept_values(0, &PERSONALITIES, EPERM)),
        (table::SOCKET, socket(request.sockets)),
        (table::OPEN, refuse_set_ids_of_new(1)),
        (table::OPENAT, refuse_set_ids_of_new(2)),
    ];
    // The kernel ignores these bits in `mkdir`.
    for (number, mode) in [
        (table::CHMOD, 1),
        (table::FCHMOD, 1),
        (table::FCHMODAT, 2),
        (table::FCHMODAT2, 2),
        (table::CREAT, 1),
        (table::MKNOD, 1),
        (table::MKNODAT, 2),
    ] {
        blocks.push((number, refuse_bits(mode, SET_IDS, EPERM)));
    }
    if request.sockets.internet == Internet::Streams {
        blocks.push((table::SENDTO, refuse_bits(3, MSG_FASTOPEN, EPERM)));
        blocks.push((table::SENDMSG, refuse_bits(2, MSG_FASTOPEN, EPERM)));
        blocks.push((table::SENDMMSG, refuse_bits(3, MSG_FASTOPEN, EPERM)));
    }
    if request.outside {
        blocks.extend(OUTSIDE_OTHER.iter().map(|(_, number)| (*number, accept_values(0, &[0], EPERM))));
        blocks.push((table::SETPRIORITY, accept_own(PRIORITY_OF_PROCESS)));
        blocks.push((table::IOPRIO_SET, accept_own(IO_PRIORITY_OF_PROCESS)));
    }
    blocks
}

/// A mode of a file that `open` makes; its flags are the argument before.
fn refuse_set_ids_of_new(flags: u32) -> Vec<Instruction> {
    vec![
        load(argument(flags)),
        jump(ANY_BIT, CREATES, 0, 3),
        load(argument(flags + 1)),
        jump(ANY_BIT, SET_IDS, 0, 1),
        give(ERROR | EPERM),
        give(ALLOW),
    ]
}

/// A priority of the calling thread alone.
fn accept_own(kind: u32) -> Vec<Instruction> {
    vec![
        load(argument(0)),
        jump(EQUAL, kind, 0, 3),
        load(argument(1)),
        jump(EQUAL, 0, 0, 1),
        give(ALLOW),
        give(ERROR | EPERM),
    ]
}

fn socket(sockets: Sockets) -> Vec<Instruction> {
    let mut block = vec![
        load(argument(0)),
        jump(EQUAL, AF_NETLINK, 0, 4),
        load(argument(2)),
        // The list of interfaces. Other protocols are those of firewalls, auditing, devices.
        jump(EQUAL, NETLINK_ROUTE, 0, 1),
        give(ALLOW),
        give(ERROR | EAFNOSUPPORT),
    ];
    let mut families = Vec::new();
    if sockets.unix {
        families.push(AF_UNIX);
    }
    if sockets.internet == Internet::All {
        families.extend([AF_INET, AF_INET6]);
    }
    for family in families {
        block.extend([jump(EQUAL, family, 0, 1), give(ALLOW)]);
    }
    if !sockets.unix {
        block.extend([jump(EQUAL, AF_UNIX, 0, 1), give(ERROR | EACCES)]);
    }
    if sockets.internet == Internet::All {
        block.push(give(ERROR | EAFNOSUPPORT));
        return block;
    }
    // An internet socket: the rest of the block; anything else is no family of the sandbox.
    block.extend([jump(EQUAL, AF_INET, 2, 0), jump(EQUAL, AF_INET6, 1, 0), give(ERROR | EAFNOSUPPORT)]);
    if sockets.internet == Internet::None {
        block.push(give(ERROR | EACCES));
        return block;
    }
    block.extend([
        load(argument(1)),
        Instruction { code: AND, yes: 0, no: 0, k: SOCK_TYPE_MASK },
        jump(EQUAL, SOCK_STREAM, 1, 0),
        give(ERROR | EACCES),
        load(argument(2)),
        jump(EQUAL, 0, 2, 0),
        jump(EQUAL, IPPROTO_TCP, 1, 0),
        give(ERROR | EACCES),
        give(ALLOW),
    ]);
    block
}

fn refuse_bits(index: u32, bits: u32, error: u32) -> Vec<Instruction> {
    vec![load(argument(index)), jump(ANY_BIT, bits, 0, 1), give(ERROR | error), give(ALLOW)]
}

/// The kernel looks at the lower half of the argument only, and so does the test.
fn refuse_values(index: u32, values: &[u32], error: u32) -> Vec<Instruction> {
    let mut block = vec![load(argument(index))];
    for value in values {
        block.extend([jump(EQUAL, *value, 0, 1), give(ERROR | error)]);
    }
    block.push(give(ALLOW));
    block
}

fn accept_values(index: u32, values: &[u32], error: u32) -> Vec<Instruction> {
    let mut block = vec![load(argument(index))];
    for value in values {
        block.extend([jump(EQUAL, *value, 0, 1), give(ALLOW)]);
    }
    block.push(give(ERROR | error));
    block
}
