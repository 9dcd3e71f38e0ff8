//! Allow rules. Where every other rule needs one row, allow needs them all: each part of the call that does something by
//! itself, a leaf, must be covered by a rule. It must not know what other stages found.
//!
//! Leaves are the effects, the commands and files that have none, and the call itself where it has no parts at all. What files
//! would do when they are run that the call writes is none: it is not done.

use castellan_event::{Call, CallRow, Command, Level, Row, ToolKind, field_index};
use castellan_rules::Rule;

use crate::policy::RuleMatch;

/// Whether the allow rules that fired cover every leaf of the call.
pub(super) fn cover(call: &Call, rows: &[CallRow<'_>], allows: &[&RuleMatch<'_>]) -> bool {
    if allows.is_empty() {
        return false;
    }
    let whole_counts = whole_counts(call, rows);
    let covered = |leaf: &Leaf<'_>| allows.iter().any(|allow| leaf.is_covered(allow, whole_counts));
    leaves(rows).all(|leaf| !is_opaque(leaf.row) && covered(&leaf))
}

/// Whether a rule that fired on the whole call covers its leaves: it understands nothing of the commands in it, nor of
/// shell text in which none were found.
fn whole_counts(call: &Call, rows: &[CallRow<'_>]) -> bool {
    call.tool.kind != ToolKind::Shell && rows.iter().all(|row| row.command().is_none())
}

pub(super) struct Leaf<'r> {
    pub(super) row: &'r CallRow<'r>,
    /// Positions and levels of the rows on the way to it and of its own, coarse ones first.
    way: Vec<(usize, Level)>,
}

/// The leaves of a call.
pub(super) fn leaves<'r>(rows: &'r [CallRow<'r>]) -> impl Iterator<Item = Leaf<'r>> {
    let is_leaf = |row: &CallRow<'_>| match (row.level(), row.file()) {
        (Level::Effect, _) => true,
        (Level::Written, _) => false,
        (Level::Command, _) => !rows.iter().any(|other| is_above(row, other)),
        (Level::Call, Some(file)) => {
            !rows.iter().any(|other| other.level() == Level::Effect && other.file() == Some(file))
        }
        (Level::Call, None) => rows.len() == 1,
    };
    let leaves = rows.iter().enumerate().filter(move |(_, row)| is_leaf(row));
    leaves.map(|(own, row)| {
        let way =
            rows.iter().enumerate().filter(|(position, other)| *position == own || is_above(other, row));
        Leaf { row, way: way.map(|(position, other)| (position, other.level())).collect() }
    })
}

impl Leaf<'_> {
    /// Whether a rule covers the leaf. The coarsest row on the way that the rule fired on says how much the rule knows of
    /// it: what is true of a whole command is true of its effects too, without a look at them.
    fn is_covered(&self, allow: &RuleMatch<'_>, whole_counts: bool) -> bool {
        let fired = |(position, _): &&(usize, Level)| allow.rows.binary_search(position).is_ok();
        match self.way.iter().find(fired) {
            Some((_, Level::Effect | Level::Written)) => true,
            Some((_, Level::Command)) => {
                self.row.command().is_some_and(|(_, command)| is_plain(command, allow.of.rule))
            }
            Some((_, Level::Call)) => {
                let mut whole = self.way.iter().filter(|(_, level)| *level == Level::Call);
                whole_counts && whole.all(|row| fired(&row))
            }
            None => false,
        }
    }
}

/// Whether a row describes what the other one is a part of. What names no file belongs to all of the call's.
fn is_above(row: &CallRow<'_>, part: &CallRow<'_>) -> bool {
    let command = |row: &CallRow<'_>| row.command().map(|(position, _)| position);
    row.level() < part.level()
        && match row.level() {
            Level::Call => part.file().is_none_or(|file| row.file() == Some(file)),
            Level::Command => command(row) == command(part),
            Level::Effect | Level::Written => false,
        }
}

pub(super) fn is_opaque(row: &CallRow<'_>) -> bool {
    row.effect().is_some_and(|effect| effect.is_opaque())
}

/// Whether a rule says all about a command: it has no circumstances that could make another one of it, but those that the
/// rule names.
fn is_plain(command: &Command, rule: &Rule) -> bool {
    let circumstances = [
        ("cmd.wrappers", !command.wrappers.is_empty() && !command.wrappers_are_neutral),
        ("cmd.remote", command.remote.is_some()),
        ("cmd.env", !command.env.is_empty()),
    ];
    let names = |field| field_index(field).is_some_and(|index| rule.fields.contains(&index));
    circumstances.into_iter().all(|(field, is_special)| !is_special || names(field))
}
