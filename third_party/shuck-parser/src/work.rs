//! castellan: one budget for all work of a parse, on this thread.
//!
//! The parser's fuel and depth limits do not reach everything: scanners that look for the end of an expansion call
//! each other and read the text below a level more than once, so that work doubles with each level, and some of the
//! decoding recurses without a limit. All of them spend from here. The host gives the budget before a parse and asks
//! afterwards whether it was spent; if it was, the result means nothing.

use std::cell::Cell;

/// Bytes of native stack below the place where the budget was given.
const STACK_BYTES: usize = 768 * 1024;

/// The budget is counted in parts of a step: that is what a character costs where it is read one by one.
const PARTS: usize = 16;

/// Bytes of text that cost as much as one part where they are scanned at once.
const BYTES_PER_PART: usize = 4;

thread_local! {
    static LEFT: Cell<usize> = const { Cell::new(usize::MAX) };
    static ANCHOR: Cell<usize> = const { Cell::new(0) };
}

/// Gives this thread a budget, and takes what was left of the last one.
pub fn allow(steps: usize) {
    LEFT.set(steps.saturating_mul(PARTS));
    ANCHOR.set(here());
}

/// The budget was spent.
pub fn exhausted() -> bool {
    LEFT.get() == 0
}

/// What is left of the budget.
pub fn left() -> usize {
    LEFT.get() / PARTS
}

/// Spends steps; `false` when there are not enough, or when the stack is used up. Then all later work fails too.
pub(crate) fn spend(steps: usize) -> bool {
    let deep = ANCHOR.get() != 0 && ANCHOR.get().saturating_sub(here()) > STACK_BYTES;
    spend_parts(if deep {
        usize::MAX
    } else {
        steps.saturating_mul(PARTS)
    })
}

/// Spends what it costs to scan text.
pub(crate) fn spend_bytes(bytes: usize) -> bool {
    spend_parts(bytes / BYTES_PER_PART + PARTS)
}

/// Spends what it costs to scan text of which each byte is looked at in few instructions.
pub(crate) fn spend_scan(bytes: usize) {
    spend_parts(bytes / BYTES_PER_PART / 8);
}

/// Spends what it costs to read one character.
#[inline]
pub(crate) fn spend_char() -> bool {
    spend_parts(1)
}

#[inline]
fn spend_parts(parts: usize) -> bool {
    let left = LEFT.get();
    let enough = left > parts;
    LEFT.set(if enough { left - parts } else { 0 });
    enough
}

/// Moving over text, paid for.
pub(crate) trait Paid {
    /// As `Position::advanced_by`, which reads all of the text.
    fn moved_by(self, text: &str) -> Self;
}

impl Paid for shuck_ast::Position {
    fn moved_by(self, text: &str) -> Self {
        // It moves even when nothing is left, or loops that look for an end would find none.
        spend_parts(text.len() / BYTES_PER_PART);
        self.advanced_by(text)
    }
}

#[inline(always)]
fn here() -> usize {
    let marker = 0u8;
    std::hint::black_box(&marker) as *const u8 as usize
}
