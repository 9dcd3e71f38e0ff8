//! The filter of system calls, as a program for the kernel: a table, and its assembly. Pure.
//!
//! A call of another ABI (i386, x32) ends the process: the numbers of the table do not hold for it.

use crate::plan::Instruction;

mod arguments;
mod table;

use table::{ANSWERS, Arch, OUTSIDE_ANSWERS};

/// A request for a filter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Filter {
    /// Sockets that a command can make.
    pub(crate) sockets: Sockets,
    /// Processes and shared memory outside are within reach, because no namespaces separate them: the filter does.
    pub(crate) outside: bool,
}

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

/// Returns the filter for the architecture of this build; empty on another one, where the caller reports that no filter is.
pub(crate) fn filter(request: Filter) -> Vec<Instruction> {
    Arch::own().map(|arch| assemble(arch, request)).unwrap_or_default()
}

/// Reports whether there is a filter for the architecture of this build.
pub(crate) fn is_known() -> bool {
    Arch::own().is_some()
}

fn assemble(arch: Arch, request: Filter) -> Vec<Instruction> {
    let mut program = vec![load(ARCHITECTURE), jump(EQUAL, arch.audit(), 1, 0), give(KILL), load(NUMBER)];
    if arch == Arch::X86_64 {
        program.extend([jump(AT_LEAST, X32, 0, 1), give(KILL)]);
    }
    let mut cases: Vec<(u32, Vec<Instruction>)> = Vec::new();
    let outside = if request.outside { OUTSIDE_ANSWERS } else { &[] };
    for (_, number, error) in ANSWERS.iter().chain(outside) {
        cases.extend(arch.number(*number).map(|number| (number, vec![give(ERROR | error)])));
    }
    for (number, block) in arguments::blocks(request) {
        cases.extend(arch.number(number).map(|number| (number, block)));
    }
    cases.sort_by_key(|(number, _)| *number);
    program.extend(search(&cases));
    program
}

/// Cases of one linear part.
const LINEAR: usize = 8;

/// A binary search over sorted cases. When a filter is applied, the kernel translates it and runs it once for each possible call to
/// learn which are always allowed: a long or linear program costs a fifth of a millisecond there.
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
    // One test for each case, then the blocks, of which equal ones are one.
    let mut blocks = vec![give(ALLOW)];
    let mut starts: Vec<(&[Instruction], usize)> = Vec::new();
    let mut program = Vec::new();
    for (index, (number, block)) in cases.iter().enumerate() {
        let known = starts.iter().find(|(known, _)| known == block).map(|(_, start)| *start);
        let start = known.unwrap_or_else(|| {
            starts.push((block, blocks.len()));
            blocks.extend(block);
            starts.last().map_or(0, |(_, start)| *start)
        });
        let tests_after = cases.len().saturating_sub(index).saturating_sub(1);
        // A block that is too far away would match nothing, so everything is refused instead.
        let Ok(distance) = u8::try_from(tests_after.saturating_add(start)) else { return vec![give(KILL)] };
        program.push(jump(EQUAL, *number, distance, 0));
    }
    program.extend(blocks);
    program
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
