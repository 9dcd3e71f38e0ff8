//! [`Items`]: the items found so far, without duplicates. This module must not know how they were found.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::rc::Rc;

use castellan_programs::Arg;

use crate::found::{Found, Gap, Item, Run};
use crate::limits::{ITEMS_MAX, LINE_BYTES_MAX};
use crate::literals::typed;

/// The items found so far.
#[derive(Debug, Default)]
pub(super) struct Items {
    items: Vec<Item>,
    /// Positions by a hash of the distinguishing fields; items with equal hashes are compared.
    seen: HashMap<u64, Vec<usize>>,
    last_command: Option<usize>,
    /// True if any parsed text contains `&`.
    pub(super) background: bool,
}

impl Items {
    /// Adds a command, unless it was already found at the same span. Returns the number of items compared.
    pub(super) fn command(&mut self, run: Run) -> usize {
        let mut hasher = DefaultHasher::new();
        (run.span, &run.argv, &run.cwd, &run.env).hash(&mut hasher);
        let key = hasher.finish();
        let same = |at: &usize| match self.items.get(*at) {
            Some(Item::Command(other)) => {
                other.span == run.span
                    && other.argv == run.argv
                    && other.cwd == run.cwd
                    && other.script == run.script
                    && other.wrappers == run.wrappers
                    && other.env == run.env
                    && other.redirects == run.redirects
                    && other.remote == run.remote
                    && other.stdin == run.stdin
            }
            Some(Item::Set(_) | Item::Script(_) | Item::Hole(_)) | None => false,
        };
        let positions = self.seen.entry(key).or_default();
        if let Some(at) = positions.iter().copied().find(same) {
            self.last_command = Some(at);
            return positions.len();
        }
        let compared = positions.len();
        positions.push(self.items.len());
        self.last_command = Some(self.items.len());
        self.items.push(Item::Command(run));
        compared
    }

    pub(super) fn gap(&mut self, gap: Gap) {
        let mut hasher = DefaultHasher::new();
        (gap.span, gap.why, gap.role, &gap.written).hash(&mut hasher);
        let positions = self.seen.entry(hasher.finish()).or_default();
        let same = |at: &usize| matches!(self.items.get(*at), Some(Item::Hole(other)) if *other == gap);
        if positions.iter().any(same) {
            return;
        }
        positions.push(self.items.len());
        self.items.push(Item::Hole(gap));
    }

    pub(super) fn push(&mut self, item: Item) {
        match item {
            Item::Command(run) => {
                self.command(run);
            }
            Item::Hole(gap) => self.gap(gap),
            Item::Script(script) => {
                let mut hasher = DefaultHasher::new();
                (script.span, &script.path, script.is_made).hash(&mut hasher);
                let positions = self.seen.entry(hasher.finish()).or_default();
                let same =
                    |at: &usize| matches!(self.items.get(*at), Some(Item::Script(other)) if *other == script);
                if !positions.iter().any(same) {
                    positions.push(self.items.len());
                    self.items.push(Item::Script(script));
                }
            }
            Item::Set(set) => {
                let mut hasher = DefaultHasher::new();
                (set.span, &set.name, &set.value).hash(&mut hasher);
                let positions = self.seen.entry(hasher.finish()).or_default();
                let same =
                    |at: &usize| matches!(self.items.get(*at), Some(Item::Set(other)) if *other == set);
                if !positions.iter().any(same) {
                    positions.push(self.items.len());
                    self.items.push(Item::Set(set));
                }
            }
        }
    }

    pub(super) fn len(&self) -> usize {
        self.items.len()
    }

    pub(super) fn is_full(&self) -> bool {
        self.items.len() >= ITEMS_MAX
    }

    pub(super) fn last_command(&self) -> Option<usize> {
        self.last_command
    }

    pub(super) fn found(self, written: Vec<(Rc<str>, Arg)>) -> Found {
        Found { items: self.items, written, background: self.background }
    }
}

/// Returns a command as a user would type it, and true if the text was cut.
pub(super) fn line(argv: &[Arg]) -> (String, bool) {
    let mut line = String::new();
    for arg in argv {
        if !line.is_empty() {
            line.push(' ');
        }
        match arg.as_str() {
            Some(known) => line.push_str(&typed(known)),
            None => line.push_str(&arg.written()),
        }
        if line.len() > LINE_BYTES_MAX {
            line.truncate(line.floor_char_boundary(LINE_BYTES_MAX));
            line.push_str(" ...");
            return (line, true);
        }
    }
    (line, false)
}
