//! castellan: one budget for all work of a parse, on this thread.
//!
//! The parser's fuel and depth limits do not reach everything: scanners that look for the end of an expansion call
//! each other and read the text below a level more than once, so that work doubles with each level, and some of the
//! decoding recurses without a limit. All of them spend from here. The host gives the budget before a parse and asks
//! afterwards whether it was spent; if it was, the result means nothing.

use std::cell::Cell;

/// Bytes of native stack below the place where the budget was given.
const STACK_BYTES: usize = 768 * 1024;

/// Bytes of text that cost as much to scan as one step.
const BYTES_PER_STEP: usize = 64;

thread_local! {
    static LEFT: Cell<usize> = const { Cell::new(usize::MAX) };
    static ANCHOR: Cell<usize> = const { Cell::new(0) };
}

/// Gives this thread a budget, and takes what was left of the last one.
pub fn allow(steps: usize) {
    LEFT.set(steps);
    ANCHOR.set(here());
}

/// The budget was spent.
pub fn exhausted() -> bool {
    LEFT.get() == 0
}

/// What is left of the budget.
pub fn left() -> usize {
    LEFT.get()
}

/// Spends steps; `false` when there are not enough, or when the stack is used up. Then all later work fails too.
pub(crate) fn spend(steps: usize) -> bool {
    let left = LEFT.get();
    let deep = ANCHOR.get() != 0 && ANCHOR.get().saturating_sub(here()) > STACK_BYTES;
    let enough = left > steps && !deep;
    LEFT.set(if enough { left - steps } else { 0 });
    enough
}

/// Spends what it costs to scan text.
pub(crate) fn spend_bytes(bytes: usize) -> bool {
    spend(bytes / BYTES_PER_STEP + 1)
}

#[inline(always)]
fn here() -> usize {
    let marker = 0u8;
    std::hint::black_box(&marker) as *const u8 as usize
}
