//! Calls, rules and policies for the tables.

use std::collections::BTreeMap;
use std::sync::Arc;

use castellan_event::{
    Agent, Answer, Call, Change, FIELDS, Facts, FileTarget, Layer, Mode, Query, Recorder, ScriptId, Session,
    Tool, ToolKind, World,
};
use castellan_policy::{AllowOrDefer, Decision, LayerRules, Policy, RequestId, Settings, State, drive};
use castellan_rules::{Options, Source, load};
use serde_json::json;

pub(crate) struct Lexical;

impl World for Lexical {
    fn answer(&self, query: &Query) -> Option<Answer> {
        let Query::RealPath { base, path } = query else { return None };
        Some(Answer::RealPath(if path.starts_with('/') { path.clone() } else { format!("{base}/{path}") }))
    }
}

pub(crate) fn rule(name: &str, condition: &str, tags: &str) -> String {
    format!(
        "- rule: {name}\n  desc: d\n  condition: {condition}\n  output: out of {name}\n  priority: NOTICE\n  \
         source: coding_agent\n  tags: [{tags}]\n"
    )
}

/// The policy of a user's rules alone.
pub(crate) fn policy(rules: &str, default_verdict: AllowOrDefer) -> Policy {
    layered(&[(Layer::User, rules)], Settings { default_verdict, ..Settings::default() })
}

pub(crate) fn layered(layers: &[(Layer, &str)], settings: Settings) -> Policy {
    loaded_with(&Options::default(), layers, settings)
}

pub(crate) fn loaded_with(options: &Options, layers: &[(Layer, &str)], settings: Settings) -> Policy {
    let sources: Vec<_> = layers
        .iter()
        .map(|(layer, text)| (*layer, [Source { name: "test.yaml".into(), text: (*text).to_owned() }]))
        .collect();
    let layers = sources.iter().map(|(layer, sources)| {
        let loaded = load(sources, FIELDS, options);
        assert!(!loaded.has_errors(), "{:?}", loaded.problems);
        LayerRules { layer: *layer, rules: loaded.rules, sources, options }
    });
    Policy::new(layers.collect(), settings)
}

pub(crate) fn call(tool: &str, kind: ToolKind, command: &str, files: &[&str]) -> Call {
    let target = |path: &&str| FileTarget {
        path: (*path).to_owned(),
        patch_op: None,
        patch_text: String::new(),
        change: Change::Unsaid,
    };
    Call {
        correlation_id: 1,
        agent: Agent { cwd: "/w".into(), ..Agent::default() },
        tool: Tool { name: tool.into(), name_raw: tool.into(), use_id: String::new(), kind, mcp: None },
        input: json!({}),
        input_text: "{}".into(),
        command: (kind == ToolKind::Shell).then(|| command.to_owned()),
        files: files.iter().map(target).collect(),
        in_background: false,
        problems: vec![],
    }
}

pub(crate) fn bash(command: &str) -> Call {
    call("Bash", ToolKind::Shell, command, &[])
}

static NEW: Session = Session { marks: BTreeMap::new(), now_ms: 0 };

pub(crate) fn state(mode: Mode, agent_asks: bool) -> State<'static> {
    State { mode, agent_asks, next_request: RequestId::from_seed(6), ..State::plain(&NEW) }
}

/// The decision in enforce mode, in a new session.
pub(crate) fn judge(call: &Call, facts: &Facts, policy: &Policy) -> Decision {
    drive(call, facts, policy, &state(Mode::Enforce, true), &mut Recorder::new(&Lexical)).0
}

/// Returns the script file with a path; `None` for the empty path.
pub(crate) fn script(path: &str) -> Option<Arc<ScriptId>> {
    (!path.is_empty()).then(|| Arc::new(ScriptId { path: path.to_owned(), sha256: None }))
}
