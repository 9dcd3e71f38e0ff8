//! A call as an agent asks about it, with the rules that decide it: the shipped rules, and short rules like a person's.

use std::path::Path;

use anyhow::{Context, bail, ensure};
use castellan_agents::{AgentId, Incoming, Origin, decode};
use castellan_corpus::{Machine, WORKSPACE};
use castellan_event::{Answers, Call, FIELDS, Facts, Layer, Recorder, Session, rows};
use castellan_facts::{Setting, analyse};
use castellan_policy::{Decision, LayerRules, Operator, Policy, Settings, State, Step, decide, drive};
use castellan_rules::{Options, Part, RuleSet, Source, load};
use serde_json::json;

/// The pack of the organisation's layer.
const SELF: &str = "self.yaml";

const DENY: &[&str] =
    &["Read(~/.ssh/**)", "Edit(//etc/**)", "Bash(rm -rf:*)", "WebFetch(domain:paste.example)"];
const ASK: &[&str] = &["Bash(git push:*)", "Bash(npm publish:*)", "Bash(docker run:*)"];
const ALLOW: &[&str] = &["Bash(cargo test:*)", "Bash(git status:*)", "Bash(ls:*)", "Edit(src/**)"];

pub(crate) struct Terms {
    policy: Policy,
    /// The rules without the pipeline.
    rules: Vec<RuleSet>,
}

impl Terms {
    pub(crate) fn shipped() -> anyhow::Result<Terms> {
        let options = Options::default();
        let sources = shipped()?;
        let parts: Vec<(Layer, Vec<Source>)> = vec![
            (Layer::Organisation, sources.iter().filter(|source| is_self(source)).cloned().collect()),
            (Layer::User, sources.iter().filter(|source| !is_self(source)).cloned().collect()),
        ];
        let compiled = || -> anyhow::Result<Vec<RuleSet>> {
            parts.iter().map(|(_, sources)| compile(sources, &options)).collect()
        };
        let layers = parts.iter().zip(compiled()?);
        let layers = layers.map(|((layer, sources), rules)| LayerRules {
            layer: *layer,
            rules,
            sources,
            options: &options,
        });
        let [deny, ask, allow] =
            [DENY, ASK, ALLOW].map(|list| list.iter().map(|text| (*text).to_owned()).collect::<Vec<_>>());
        let operator = Operator::parse(&deny, &ask, &allow)?;
        let policy =
            Policy::new(layers.collect(), Settings { operators: operator.into(), ..Settings::default() });
        Ok(Terms { policy, rules: compiled()? })
    }
}

fn is_self(source: &Source) -> bool {
    source.name == SELF
}

fn compile(sources: &[Source], options: &Options) -> anyhow::Result<RuleSet> {
    let loaded = load(sources, FIELDS, options);
    ensure!(!loaded.has_errors(), "the shipped rules do not load");
    Ok(loaded.rules)
}

/// Reads the shipped rule files, without the cases beside them.
fn shipped() -> anyhow::Result<Vec<Source>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../rules");
    let mut sources = Vec::new();
    for entry in std::fs::read_dir(folder).context("the shipped rules are not there")? {
        let path = entry?.path();
        let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        if name.ends_with(".yaml") && !name.ends_with("_cases.yaml") {
            sources.push(Source { name, text: std::fs::read_to_string(path)? });
        }
    }
    sources.sort_by(|one, other| one.name.cmp(&other.name));
    Ok(sources)
}

pub(crate) struct Asked {
    payload: Vec<u8>,
    origin: Origin,
    call: Call,
}

impl Asked {
    pub(crate) fn new(command: &str) -> anyhow::Result<Asked> {
        let payload = json!({
            "session_id": "0b7e4f1a-bench", "cwd": WORKSPACE, "permission_mode": "default",
            "hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_use_id": "toolu_bench",
            "tool_input": { "command": command, "description": "a step of the work" },
        });
        let payload = payload.to_string().into_bytes();
        let origin = Origin { correlation_id: 1, agent_pid: 4242, hook_cwd: WORKSPACE.to_owned() };
        let call = read(&payload, &origin)?;
        Ok(Asked { payload, origin, call })
    }

    pub(crate) fn decode(&self) -> anyhow::Result<Call> {
        read(&self.payload, &self.origin)
    }

    /// Returns the facts of the call. A table answers the queries to the world.
    pub(crate) fn facts(&self) -> Facts {
        facts(&self.call, &mut Recorder::new(&Machine::default()))
    }

    /// Decides once, to collect every answer.
    pub(crate) fn prepare(&self, terms: &Terms) -> anyhow::Result<Prepared<'_>> {
        let machine = Machine::default();
        let mut world = Recorder::new(&machine);
        let facts = facts(&self.call, &mut world);
        let session = Session::default();
        let (decision, _) = drive(&self.call, &facts, &terms.policy, &State::plain(&session), &mut world);
        ensure!(decision.required.is_some(), "a call could not be looked into: {}", decision.reason);
        Ok(Prepared { call: &self.call, facts, session, answers: world.into_answers() })
    }
}

fn read(payload: &[u8], origin: &Origin) -> anyhow::Result<Call> {
    match decode(AgentId::CLAUDE, "PreToolUse", payload, origin) {
        Ok(Incoming::Question(call)) => Ok(call),
        _ => bail!("the payload is no question"),
    }
}

fn facts(call: &Call, world: &mut Recorder<'_>) -> Facts {
    let setting = Setting { workspace: WORKSPACE.to_owned(), ..Setting::default() };
    analyse(call, &setting, world)
}

/// A call with all of its answers.
pub(crate) struct Prepared<'a> {
    call: &'a Call,
    facts: Facts,
    session: Session,
    answers: Answers,
}

impl Prepared<'_> {
    /// Makes the rows and tests the rules on each. Returns the number of hits.
    pub(crate) fn rules_alone(&self, terms: &Terms) -> anyhow::Result<usize> {
        let rows =
            rows(self.call, &self.facts, &self.session, &self.answers).ok().context("a query is open")?;
        let hits =
            terms.rules.iter().map(|set| std::hint::black_box(set.evaluate_rows(&rows, |_| Part::In)).len());
        Ok(hits.sum())
    }

    pub(crate) fn decide(&self, terms: &Terms) -> anyhow::Result<Decision> {
        let state = State::plain(&self.session);
        match decide(self.call, &self.facts, &terms.policy, &state, &self.answers) {
            Step::Done(decision, _) => Ok(decision),
            Step::Needs(_) => bail!("a query is open"),
            Step::NeedsRules => bail!("the rules are castellan's own"),
        }
    }
}
