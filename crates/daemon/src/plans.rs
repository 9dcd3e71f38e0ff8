//! Plans on this machine: their copies, the comparison with a call, proposals, and the log of departures. It must not
//! know which plan is in force for a session.

mod compare;
mod copies;
mod proposals;
mod violations;

use std::path::Path;

use castellan_event::{Agent, Call, Facts, Tool, ToolKind};
use serde_json::json;

pub(crate) use self::compare::{Comparison, compare};
pub(crate) use self::copies::Copies;
pub use self::copies::parse as parse_plan;
pub(crate) use self::proposals::{Proposals, Proposed, propose};
pub(crate) use self::violations::Violations;

/// The files of plans, and the proposals that wait for a person.
#[derive(Debug)]
pub(crate) struct Plans {
    pub(crate) copies: Copies,
    pub(crate) proposals: Proposals,
    pub(crate) violations: Violations,
}

impl Plans {
    /// `state`: castellan's directory for state.
    pub(crate) fn new(state: &Path) -> Plans {
        Plans {
            copies: Copies::new(state.join("plans")),
            proposals: Proposals::default(),
            violations: Violations::new(state.join("plan_violations.jsonl")),
        }
    }
}

/// A call of shell text that nobody makes, for the analysis of a plan. `pid`: a process with the environment of the call.
fn imagined(cwd: &str, pid: u32, text: &str) -> Call {
    let name = "Bash".to_owned();
    Call {
        correlation_id: 1,
        agent: Agent { cwd: cwd.to_owned(), pid, ..Agent::default() },
        tool: Tool {
            name: name.clone(),
            name_raw: name,
            use_id: String::new(),
            kind: ToolKind::Shell,
            mcp: None,
        },
        input: json!({}),
        input_text: String::new(),
        command: Some(text.to_owned()),
        files: Vec::new(),
        in_background: false,
        problems: Vec::new(),
    }
}

/// Returns the names of the programs that a text itself starts, without those of scripts.
fn heads(facts: &Facts) -> Vec<String> {
    let own = facts.commands.iter().filter(|command| command.origin == "text");
    own.filter_map(|command| command.name.clone()).collect()
}
