//! The filter of system calls, as a program for the kernel: a table, and its assembly. Pure.
//!
//! A call of another ABI (i386, x32) ends the process: the numbers of the table do not hold for it.

use crate::plan::Instruction;

mod table;

use table::{ANSWERS, Arch, Number};

/// Sockets that a command can make.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Sockets {
    /// Unix sockets by name; pairs are always possible.
    pub(crate) unix: bool,
    /// Internet sockets.
    pub(crate) internet: Internet,
}

/// Internet sockets that a command can make.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Internet {
    /// None.
    None,
    /// TCP streams whose connections Landlock checks: no other protocol, and no data with the first packet, which
    /// Landlock does not see.
    Streams,
    /// All.
    All,
}

// Operations of `linux/bpf_common.h`.
const LOAD: u16 = 0x20; // LD | W | ABS
const EQUAL: u16 = 0x15; // JMP | JEQ | K
const AT_LEAST: u16 = 0x35; // JMP | JGE | K
const SKIP: u16 = 0x05; // JMP | JA
const ANY_BIT: u16 = 0x45; // JMP | JSET | K
const AND: u16 = 0x54; // ALU | AND | K
const RETURN: u16 = 0x06; // RET | K

const ALLOW: u32 = 0x7fff_0000;
const KILL: u32 = 0x8000_0000;
const ERROR: u32 = 0x0005_0000;

// Offsets in `struct seccomp_data`; both architectures are little-endian.
const NUMBER: u32 = 0;
const ARCHITECTURE: u32 = 4;
const ARGUMENTS: u32 = 16;

const X32: u32 = 0x4000_0000;

const EPERM: u32 = 1;
const EACCES: u32 = 13;
const EAFNOSUPPORT: u32 = 97;

/// CLONE_NEW* of all namespaces. CLONE_NEWTIME is a bit of the exit signal in `clone`, so it is for `unshare` alone.
const NEW_NAMESPACES: u32 =
    0x0002_0000 | 0x0200_0000 | 0x0400_0000 | 0x0800_0000 | 0x1000_0000 | 0x2000_0000 | 0x4000_0000;
const NEW_TIME_NAMESPACE: u32 = 0x80;

/// `ioctl` requests that put input into a terminal: TIOCSTI, and TIOCLINUX for consoles.
const TERMINAL_INPUT: [u32; 2] = [0x5412, 0x541c];

/// `personality` values that programs use: Linux, without randomised addresses (debuggers), and the question.
const PERSONALITIES: [u32; 3] = [0, 0x0004_0000, 0xffff_ffff];

const AF_UNIX: u32 = 1;
const AF_INET: u32 = 2;
const AF_INET6: u32 = 10;
const AF_NETLINK: u32 = 16;
const SOCK_STREAM: u32 = 1;
const SOCK_TYPE_MASK: u32 = 0xf;
const IPPROTO_TCP: u32 = 6;
const MSG_FASTOPEN: u32 = 0x2000_0000;

/// Returns the filter for the architecture of this build; empty on another one, where the caller reports that no filter is.
pub(crate) fn filter(sockets: Sockets) -> Vec<Instruction> {
    Arch::own().map(|arch| assemble(arch, sockets)).unwrap_or_default()
}

/// Reports whether there is a filter for the architecture of this build.
pub(crate) fn is_known() -> bool {
    Arch::own().is_some()
}

fn assemble(arch: Arch, sockets: Sockets) -> Vec<Instruction> {
    let mut program = vec![load(ARCHITECTURE), jump(EQUAL, arch.audit(), 1, 0), give(KILL), load(NUMBER)];
    if arch == Arch::X86_64 {
        program.extend([jump(AT_LEAST, X32, 0, 1), give(KILL)]);
    }
    let mut cases: Vec<(u32, Vec<Instruction>)> = Vec::new();
    for (_, number, error) in ANSWERS {
        cases.extend(arch.number(*number).map(|number| (number, vec![give(ERROR | error)])));
    }
    for (number, block) in blocks(sockets) {
        cases.extend(arch.number(number).map(|number| (number, block)));
    }
    cases.sort_by_key(|(number, _)| *number);
    program.extend(search(&cases));
    program
}

/// Cases of one linear part.
const LINEAR: usize = 4;

/// A binary search over sorted cases. When a filter is applied, the kernel runs it once for each possible call to learn which are
/// always allowed: a linear program of this size costs a fifth of a millisecond there.
fn search(cases: &[(u32, Vec<Instruction>)]) -> Vec<Instruction> {
    if cases.len() > LINEAR {
        let (low, high) = cases.split_at(cases.len() / 2);
        let low = search(low);
        let first = high.first().map_or(0, |(number, _)| *number);
        let past = u32::try_from(low.len()).unwrap_or(u32::MAX);
        let mut program =
            vec![jump(AT_LEAST, first, 0, 1), Instruction { code: SKIP, yes: 0, no: 0, k: past }];
        program.extend(low);
        program.extend(search(high));
        return program;
    }
    let mut program = Vec::new();
    for (number, block) in cases {
        // Blocks are some instructions long; one that is too long would match nothing, so it kills instead.
        let Ok(length) = u8::try_from(block.len()) else { return vec![give(KILL)] };
        program.push(jump(EQUAL, *number, 0, length));
        program.extend(block);
    }
    program.push(give(ALLOW));
    program
}

/// Tests of arguments, each ending in an answer.
fn blocks(sockets: Sockets) -> Vec<(Number, Vec<Instruction>)> {
    let mut blocks = vec![
        (table::CLONE, refuse_bits(0, NEW_NAMESPACES, EPERM)),
        (table::UNSHARE, refuse_bits(0, NEW_NAMESPACES | NEW_TIME_NAMESPACE, EPERM)),
        (table::IOCTL, refuse_values(1, &TERMINAL_INPUT, EPERM)),
        (table::PERSONALITY, accept_values(0, &PERSONALITIES, EPERM)),
        (table::SOCKET, socket(sockets)),
    ];
    if sockets.internet == Internet::Streams {
        blocks.push((table::SENDTO, refuse_bits(3, MSG_FASTOPEN, EPERM)));
        blocks.push((table::SENDMSG, refuse_bits(2, MSG_FASTOPEN, EPERM)));
        blocks.push((table::SENDMMSG, refuse_bits(3, MSG_FASTOPEN, EPERM)));
    }
    blocks
}

fn socket(sockets: Sockets) -> Vec<Instruction> {
    let mut families = vec![AF_NETLINK];
    if sockets.unix {
        families.push(AF_UNIX);
    }
    let mut block = vec![load(argument(0))];
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

const fn argument(index: u32) -> u32 {
    ARGUMENTS + 8 * index
}

const fn load(k: u32) -> Instruction {
    Instruction { code: LOAD, yes: 0, no: 0, k }
}

const fn jump(code: u16, k: u32, yes: u8, no: u8) -> Instruction {
    Instruction { code, yes, no, k }
}

const fn give(k: u32) -> Instruction {
    Instruction { code: RETURN, yes: 0, no: 0, k }
}

#[cfg(test)]
mod tests;
