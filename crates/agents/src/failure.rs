//! The hook's deny without an answer from the daemon, and its deadlines. The hook reads none of these files at run
//! time: `cargo xtask gen` writes [`hook_table`] into its source. This module must not know how the hook fails.

use std::fmt::Write as _;

use crate::agent::AgentId;
use crate::spec::EventKind;

/// The report of castellan's own failure to an agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Form {
    /// Exit 2 with a line on standard error: blocks the call.
    Block,
    /// Exit 0 with a deny decision in JSON, for events where exit 2 does not deny.
    PermissionDeny,
    /// Exit 0 with a line on standard error: no call depends on the answer.
    Mention,
}

impl Form {
    /// `None`: an event that this version does not know.
    pub(crate) fn of(kind: Option<EventKind>) -> Form {
        match kind {
            None | Some(EventKind::Question) => Form::Block,
            Some(EventKind::Permission) => Form::PermissionDeny,
            Some(EventKind::Done { .. } | EventKind::Session { .. }) => Form::Mention,
        }
    }
}

/// Returns the source of the hook's table: one row for each event of each agent.
pub fn hook_table() -> String {
    let mut text = String::from(
        "//! The form of a denial for each event of each agent, for the case that the daemon cannot be asked. `cargo xtask\n\
         //! gen` makes this file from `crates/agents`; do not edit.\n\n\
         use super::Form::{self, Block, Mention, PermissionDeny};\n\n\
         /// Agent, event, form, and the seconds after which the hook answers by itself.\n\
         pub(super) const TABLE: &[(&str, &str, Form, u32)] = &[\n",
    );
    for agent in AgentId::ALL {
        for event in agent.spec().events {
            let (word, name, seconds) = (agent.word(), event.name, event.hook_deadline_s);
            let telling = Form::of(Some(event.kind));
            // A write to a `String` cannot fail.
            let _ = writeln!(text, "    ({word:?}, {name:?}, {telling:?}, {seconds}),");
        }
    }
    text + "];\n"
}
