//! Allow rules. Any other rule needs one row; allow needs all: a rule must cover each leaf, which is a part of the call
//! with its own effect. Does not depend on the findings of other stages.
//!
//! Leaves are the effects, the commands and files without effects, and the call itself if it has no parts. The effects
//! of files that the call writes are no leaves, because they do not happen yet.

use castellan_event::{Call, CallRow, Command, Level, Row, ToolKind, field_index};
use castellan_rules::Rule;

use crate::policy::RuleMatch;

/// Reports whether the allow rules that fired cover every leaf of the call.
pub(super) fn cover(call: &Call, rows: &[CallRow<'_>], allows: &[&RuleMatch<'_>]) -> bool {
    if allows.is_empty() {
        return false;
    }
    let whole_counts = whole_counts(call, rows);
    let covered = |leaf: &Leaf<'_>| allows.iter().any(|allow| leaf.is_covered(allow, whole_counts));
    leaves(rows).all(|leaf| !is_opaque(leaf.row) && covered(&leaf))
}

/// Reports whether a rule that fired on the whole call covers its leaves. Such a rule does not understand commands in
/// the call, or shell text without recognized commands.
fn whole_counts(call: &Call, rows: &[CallRow<'_>]) -> bool {
    call.tool.kind != ToolKind::Shell && rows.iter().all(|row| row.command().is_none())
}

pub(super) struct Leaf<'r> {
    pub(super) row: &'r CallRow<'r>,
    /// Positions and levels of the rows above the leaf and of its own row, coarse ones first.
    way: Vec<(usize, Level)>,
}

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
    /// Reports whether a rule covers the leaf. The coarsest row on which the rule fired decides: a rule about a whole
    /// command also covers the command's effects without checking them.
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

/// Reports whether `part` is part of the row. A part without a file belongs to all files of the call.
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

/// Reports whether a rule describes a command completely: it names all circumstances that could change the command.
fn is_plain(command: &Command, rule: &Rule) -> bool {
    let circumstances = [
        ("cmd.wrappers", !command.wrappers.is_empty() && !command.wrappers_are_neutral),
        ("cmd.remote", command.remote.is_some()),
        ("cmd.env", !command.env.is_empty()),
    ];
    let names = |field| field_index(field).is_some_and(|index| rule.fields.contains(&index));
    circumstances.into_iter().all(|(field, is_special)| !is_special || names(field))
}
