//! A world and calls for the tests of stages.

use castellan_event::{Agent, Answer, Call, Facts, Query, Recorder, Session, Tool, ToolKind, Verdict, World};
use serde_json::json;

use crate::drive;
use crate::policy::Policy;
use crate::settings::Settings;
use crate::state::State;

/// A world without symbolic links.
pub(crate) struct Lexical;

impl World for Lexical {
    fn answer(&self, query: &Query) -> Option<Answer> {
        let Query::RealPath { base, path } = query else { return None };
        Some(Answer::RealPath(if path.starts_with('/') { path.clone() } else { format!("{base}/{path}") }))
    }
}

/// A shell call in a directory.
pub(crate) fn call_in(cwd: &str, command: &str) -> Call {
    let (name, use_id, kind) = ("Bash".to_owned(), String::new(), ToolKind::Shell);
    Call {
        correlation_id: 1,
        agent: Agent { cwd: cwd.to_owned(), ..Agent::default() },
        tool: Tool { name: name.clone(), name_raw: name, use_id, kind, mcp: None },
        input: json!({}),
        input_text: "{}".to_owned(),
        command: Some(command.to_owned()),
        files: Vec::new(),
        in_background: false,
        problems: Vec::new(),
    }
}

/// The verdict of all stages on a call without effects, with default settings and without rules.
pub(crate) fn verdict_of(call: &Call) -> Verdict {
    let (policy, session) = (Policy::new(Vec::new(), Settings::default()), Session::default());
    let mut world = Recorder::new(&Lexical);
    drive(call, &Facts::default(), &policy, &State::plain(&session), &mut world).0.verdict
}

#[test]
fn a_call_of_which_no_stage_finds_anything_is_left_to_the_agent() {
    assert_eq!(verdict_of(&call_in("/w", "x")), Verdict::Defer);
}
