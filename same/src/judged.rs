//! [`line`]: a call as JSON: its rows by the names of rule fields, the counted work, and the decision with its record
//! under each profile. Fields of rules keep their names, so that lines of two versions can be compared.

use std::time::Duration;

use castellan_agents::{self as agents, Message};
use castellan_corpus::{Machine, WORKSPACE};
use castellan_daemon::{Config, OneSession, compile, shipped_rules};
use castellan_event::{
    CallRow, Code, Exemption, FIELDS, FieldArg, Finding, Level, Recorder, Row, Value, rows,
};
use castellan_facts::{Setting, Spent, analyse_counted};
use castellan_policy::{Policy, Profile, RequestId, agent_text, user_text};
use castellan_trial::{Judged, Trial};
use serde_json::{Map, Value as Json, json};

use crate::inputs::Input;

/// The profiles that judge a call: the key in the line, the profile, and true if nobody can be asked.
const PROFILES: &[(&str, Profile, bool)] = &[
    ("standard", Profile::Standard, false),
    ("strict", Profile::Strict, false),
    ("autonomous, unattended", Profile::Autonomous, true),
];

/// A compiled policy for each profile.
pub(crate) struct Policies(Vec<(&'static str, Policy, bool)>);

impl Policies {
    /// Compiles the shipped rules under each profile. Returns an error if they do not load.
    pub(crate) fn compiled() -> anyhow::Result<Policies> {
        let sources = shipped_rules();
        let policies = PROFILES.iter().map(|(name, profile, unattended)| {
            let compiled = compile(&sources, &Config::default().with_profile(*profile));
            anyhow::ensure!(
                compiled.error().is_none(),
                "the shipped rules do not load: {:?}",
                compiled.error()
            );
            Ok((*name, compiled.policy, *unattended))
        });
        Ok(Policies(policies.collect::<anyhow::Result<_>>()?))
    }
}

/// Judges an input under each profile. `with_texts` adds the bytes for the agent and the user to the line.
pub(crate) fn line(input: &Input, policies: &Policies, with_texts: bool) -> Json {
    let mut line = Map::new();
    line.insert("id".to_owned(), input.id.as_str().into());
    for (name, policy, unattended) in &policies.0 {
        let trial = Trial::new(policy);
        let trial = if *unattended { trial.unattended() } else { trial };
        match trial.judge(&input.case) {
            Ok(judged) => {
                if !line.contains_key("rows") {
                    line.insert("rows".to_owned(), row_values(&judged));
                    line.insert("work".to_owned(), work(&judged));
                }
                line.insert((*name).to_owned(), decided(&judged, input, with_texts));
            }
            Err(why) => {
                line.insert((*name).to_owned(), json!({ "no_call": why }));
            }
        }
    }
    Json::Object(line)
}

fn decided(judged: &Judged, input: &Input, with_texts: bool) -> Json {
    let Judged { call, decision, change, answers, .. } = judged;
    let findings: Vec<Json> = decision.findings.iter().map(finding).collect();
    let record = OneSession::in_workspace(WORKSPACE).record(call, decision, answers, change, Duration::ZERO);
    let texts = with_texts.then_some(change.request).flatten().map(|request| texts(judged, input, request));
    json!({
        "verdict": decision.verdict.as_str(),
        "answer": decision.answer.as_str(),
        "by": judged.by(),
        "findings": findings,
        "marks": change.marks,
        "record": serde_json::to_value(&record).unwrap_or_default(),
        "texts": texts,
    })
}

/// Returns the bytes for the agent, and the hook's exit code.
fn texts(judged: &Judged, input: &Input, request: RequestId) -> Json {
    let Judged { decision, .. } = judged;
    let reason = agent_text(decision, request);
    let user_note = user_text(decision, request, judged.change.is_offered);
    let reported = Message { user_note, ..Message::new(decision.answer, reason) };
    let reply = agents::encode(input.case.agent, agents::question_event(input.case.agent), &reported);
    let streams = [reply.stdout, reply.stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
    json!([reply.exit, streams])
}

fn finding(finding: &Finding) -> Json {
    let code: Code = finding.code;
    json!([
        finding.verdict.as_str(),
        code.as_str(),
        finding.rule,
        finding.rows,
        finding.lifted.map(Exemption::as_str),
        finding.message,
    ])
}

/// Returns each row with the values of its own level, by the names of rule fields; a written row also with its
/// effect's.
fn row_values(judged: &Judged) -> Json {
    let rows = rows(&judged.call, &judged.facts, &judged.session, &judged.answers).unwrap_or_default();
    rows.iter().map(values).collect()
}

fn values(row: &CallRow<'_>) -> Json {
    let level = row.level();
    let fields = FIELDS.iter().enumerate();
    let is_own = |of: Level| of == level || (level == Level::Written && of == Level::Effect);
    let own = fields.filter(|(_, field)| is_own(field.level) && field.arg == FieldArg::None);
    let present = own.filter_map(|(at, field)| {
        let value = json_of(&row.value(at, None))?;
        Some((field.name.to_owned(), value))
    });
    Json::Object([("row".to_owned(), level.as_str().into())].into_iter().chain(present).collect())
}

/// Returns `None` for an absent or empty value.
fn json_of(value: &Value<'_>) -> Option<Json> {
    match value {
        Value::Absent => None,
        Value::Text(bytes) if bytes.is_empty() => None,
        Value::Text(bytes) => Some(String::from_utf8_lossy(bytes).into()),
        Value::U64(number) => Some((*number).into()),
        Value::Bool(truth) => Some((*truth).into()),
        Value::Ip(address) => Some(address.to_string().into()),
        Value::Net(net) => Some(format!("{net:?}").into()),
        Value::List(values) if values.is_empty() => None,
        Value::List(values) => Some(values.iter().filter_map(json_of).collect()),
    }
}

/// Returns the work of analysing the call alone, on the default machine.
fn work(judged: &Judged) -> Json {
    let setting = Setting { workspace: WORKSPACE.to_owned(), ..Setting::default() };
    let (_, Spent { text, programs }) =
        analyse_counted(&judged.call, &setting, &mut Recorder::new(&Machine::default()));
    json!([text, programs])
}
