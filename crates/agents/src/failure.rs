//! The hook's deny without an answer from the daemon, and its deadlines. The hook reads none of these files at run
//! time: `cargo xtask gen` writes [`hook_table`] into its source. This module must not know how the hook fails.

use std::fmt::Write as _;

use crate::agent::AgentId;
use crate::spec::EventKind;

/// The report of castellan's own failure to an agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Telling {
    /// Exit 2 with a line on standard error: blocks the call.
    Block,
    /// Exit 0 with a deny decision in JSON, for events where exit 2 does not deny.
    PermissionDeny,
    /// Exit 0 with a line on standard error: no call depends on the answer.
    Mention,
}

impl Telling {
    /// `None`: an event that this version does not know.
    pub(crate) fn of(kind: Option<EventKind>) -> Telling {
        match kind {
            None | Some(EventKind::Question) => Telling::Block,
            Some(EventKind::Permission) => Telling::PermissionDeny,
            Some(EventKind::Done { .. } | EventKind::Session { .. }) => Telling::Mention,
        }
    }
}

/// Returns the source of the hook's table: one row for each event of each agent.
pub fn hook_table() -> String {
    let mut text = String::from(
        "//! How each event of each agent is denied when the daemon cannot be asked. Made by `cargo xtask gen` from `crates/agents`; do not\n\
         //! edit.\n\n\
         use super::Telling::{self, Block, Mention, PermissionDeny};\n\n\
         /// Agent, event, how it is told, and the seconds after which the hook answers by itself.\n\
         pub(super) const TABLE: &[(&str, &str, Telling, u32)] = &[\n",
    );
    for agent in AgentId::ALL {
        for event in agent.spec().events {
            let (word, name, seconds) = (agent.word(), event.name, event.hook_deadline_s);
            let telling = Telling::of(Some(event.kind));
            // A write to a `String` cannot fail.
            let _ = writeln!(text, "    ({word:?}, {name:?}, {telling:?}, {seconds}),");
        }
    }
    text + "];\n"
}
