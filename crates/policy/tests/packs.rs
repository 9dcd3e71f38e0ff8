//! The shipped rule packs against the cases beside them: each file loads without a word, alone and with the others, and
//! each case, decoded from the agent's own JSON, is decided as it says, by the rule that it names.

#![expect(clippy::panic, reason = "a test that cannot read its cases has nothing to say but that it failed")]

use std::collections::HashMap;
use std::path::PathBuf;

use castellan_agents::{AgentId, Incoming, Origin, decode};
use castellan_event::{Answer, Call, Decision, FIELDS, Facts, Layer, Query, Recorder, Session, World};
use castellan_policy::{LayerRules, Policy, Settings, State, drive};
use castellan_rules::{Options, Rule, Source, load};
use serde::Deserialize;
use serde_json::{Map, Value as Json, json};

const CASES_VERSION: u32 = 1;

/// Where the calls of the cases come from unless they say otherwise.
const CWD: &str = "/home/dev/project";

/// Agents cut long reasons; what to do instead must still be in the part that is left.
const OUTPUT_BYTES_MAX: usize = 400;

const CASES_PER_RULE_MIN: usize = 2;

/// Packs that stand in the organisation's layer.
const ORGANISATION: &[&str] = &["self.yaml"];

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Cases {
    version: u32,
    cases: Vec<Case>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Case {
    call: CaseCall,
    verdict: String,
    /// The rule that decides; for `defer` the rule that the call only resembles.
    rule: String,
}

#[derive(Debug, Deserialize)]
struct CaseCall {
    /// Claude when it is left out.
    agent: Option<String>,
    tool: String,
    cwd: Option<String>,
    /// Where the call's first path leads, if it is a symlink.
    real_path: Option<String>,
    /// Every other key: the tool's input, by the agent's own names.
    #[serde(flatten)]
    input: Map<String, Json>,
}

#[test]
fn packs_load_together_without_a_problem() {
    let loaded = load(&packs_of(Layer::User), FIELDS, &Options::default());
    let problems: Vec<_> = loaded.problems.iter().map(|problem| problem.one_line()).collect();
    assert_eq!(problems, [""; 0]);
}

#[test]
fn each_pack_loads_alone_without_a_problem() {
    for pack in packs() {
        let loaded = load(std::slice::from_ref(&pack), FIELDS, &Options::default());
        let problems: Vec<_> = loaded.problems.iter().map(|problem| problem.one_line()).collect();
        assert_eq!(problems, [""; 0], "{}", pack.name);
    }
}

/// The header of each pack shows how a user's own file, which loads after the packs, changes them.
#[test]
fn the_examples_in_the_headers_load() {
    for pack in packs() {
        let examples = examples(&pack.text);
        assert!(!examples.is_empty(), "{}: no examples", pack.name);
        let user = Source { name: format!("examples of {}", pack.name), text: examples };
        let mut sources = packs_of(Layer::User);
        sources.push(user);
        let loaded = load(&sources, FIELDS, &Options::default());
        let problems: Vec<_> = loaded.problems.iter().map(|problem| problem.one_line()).collect();
        assert_eq!(problems, [""; 0], "{}", pack.name);
    }
}

#[test]
fn every_case_is_decided_as_it_says() {
    let policy = policy();
    let mut wrong = Vec::new();
    for name in pack_names() {
        for case in cases(&name) {
            let decision = decide(&policy, &case.call);
            let deciding = deciding_rules(&decision);
            let by_rule = case.verdict == "defer" || deciding.contains(&case.rule.as_str());
            if decision.verdict.as_str() != case.verdict || !by_rule {
                let Case { call, verdict, rule } = case;
                let got = decision.verdict;
                wrong.push(format!("{name}: {call:?}\n  {verdict} by `{rule}`, got {got} by {deciding:?}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{} cases:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn every_rule_has_cases_that_match_and_cases_that_do_not() {
    let mut matching: HashMap<String, usize> = HashMap::new();
    let mut resembling: HashMap<String, usize> = HashMap::new();
    for case in pack_names().iter().flat_map(|name| cases(name)) {
        let counts = if case.verdict == "defer" { &mut resembling } else { &mut matching };
        *counts.entry(case.rule).or_default() += 1;
    }
    let policy = policy();
    let names: Vec<_> = policy.rules().map(|rule| rule.rule.name.as_str()).collect();
    // The cases have no effects: rules on those are tried by real agents (an_agent_does_not_free_itself).
    let on_effects = |fields: &[usize]| {
        let mut names = fields.iter().filter_map(|field| FIELDS.get(*field));
        names.any(|field| field.name.starts_with("fx."))
    };
    let on_calls = policy.rules().filter(|rule| !on_effects(&rule.rule.fields));
    for name in on_calls.map(|rule| rule.rule.name.as_str()) {
        for (kind, counts) in [("matching", &matching), ("non-matching", &resembling)] {
            let count = counts.get(name).copied().unwrap_or_default();
            assert!(count >= CASES_PER_RULE_MIN, "`{name}` has {count} {kind} cases");
        }
    }
    for name in matching.keys().chain(resembling.keys()) {
        assert!(names.contains(&name.as_str()), "cases name `{name}`, which is no rule");
    }
}

#[test]
fn rules_say_what_they_do() {
    for layer in [Layer::Organisation, Layer::User] {
        let options = Options { describe: true, ..Options::default() };
        let loaded = load(&packs_of(layer), FIELDS, &options);
        let described = loaded.description.unwrap_or_default().rules;
        assert_eq!(described.len(), loaded.rules.rules().len());
        for (rule, described) in loaded.rules.rules().iter().zip(&described) {
            check_rule(rule, &described.output);
        }
    }
}

fn check_rule(rule: &Rule, output: &str) {
    let name = &rule.name;
    let has = |tag: &str| rule.tags.iter().any(|other| other == tag);
    assert!(output.len() <= OUTPUT_BYTES_MAX, "`{name}`: output of {} bytes", output.len());
    assert!(!rule.desc.is_empty(), "`{name}`: no description");
    let (deny, ask) = (has("coding_agent_deny"), has("coding_agent_ask"));
    assert!(deny != ask, "`{name}` needs exactly one verdict tag");
    let (word, priority) = if deny { ("Deny ", "Critical") } else { ("Ask before ", "Warning") };
    assert!(name.starts_with(word), "`{name}` must begin with `{word}`");
    assert_eq!(rule.priority.as_str(), priority, "`{name}`");
    let reads_text =
        rule.fields.iter().any(|field| FIELDS.get(*field).is_some_and(|f| f.name == "tool.input_command"));
    assert_eq!(
        has("string_test"),
        reads_text,
        "`{name}`: tag `string_test` if and only if it reads shell text"
    );
}

/// The YAML in the comment after "To change it", the comment signs taken off.
fn examples(text: &str) -> String {
    let after = text.lines().skip_while(|line| !line.starts_with("# To change it"));
    let lines = after.skip(1).map_while(|line| line.strip_prefix("#   "));
    lines.map(|line| format!("{line}\n")).collect()
}

fn policy() -> Policy {
    let options = Options::default();
    let packs = [Layer::Organisation, Layer::User].map(|layer| (layer, packs_of(layer)));
    let layers = packs.iter().map(|(layer, sources)| {
        let loaded = load(sources, FIELDS, &options);
        assert!(!loaded.has_errors(), "{:?}", loaded.problems);
        LayerRules { layer: *layer, rules: loaded.rules, sources, options: &options }
    });
    Policy::new(layers.collect(), Settings::default())
}

/// The packs of a layer; those that the organisation's has are not the user's.
fn packs_of(layer: Layer) -> Vec<Source> {
    let is_upper = |pack: &Source| ORGANISATION.contains(&pack.name.as_str());
    packs().into_iter().filter(|pack| is_upper(pack) == (layer == Layer::Organisation)).collect()
}

fn packs() -> Vec<Source> {
    let source = |name: &String| Source { name: format!("{name}.yaml"), text: read(&format!("{name}.yaml")) };
    pack_names().iter().map(source).collect()
}

/// Every file of the folder that is not one of cases: a pack that is added there is tested, whoever ships it.
fn pack_names() -> Vec<String> {
    let entries = std::fs::read_dir(rules_folder()).unwrap_or_else(|error| panic!("the rules: {error}"));
    let files = entries.flatten().filter_map(|entry| entry.file_name().into_string().ok());
    let stems = files.filter_map(|file| file.strip_suffix(".yaml").map(str::to_owned));
    let mut names: Vec<_> = stems.filter(|stem| !stem.ends_with("_cases")).collect();
    names.sort();
    assert!(!names.is_empty(), "no packs");
    names
}

fn rules_folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../rules")
}

fn cases(name: &str) -> Vec<Case> {
    let file = format!("{name}_cases.yaml");
    let cases: Cases = serde_saphyr::from_str(&read(&file)).unwrap_or_else(|error| panic!("{file}: {error}"));
    assert_eq!(cases.version, CASES_VERSION, "{file}");
    cases.cases
}

fn read(file: &str) -> String {
    let path = rules_folder().join(file);
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn decide(policy: &Policy, case: &CaseCall) -> Decision {
    let session = Session::default();
    let state = State::plain(&session);
    let call = call_of(case);
    let world =
        Links { path: call.files.first().map(|file| file.path.clone()), real: case.real_path.clone() };
    drive(&call, &Facts::default(), policy, &state, &mut Recorder::new(&world)).0
}

/// The rules of the strictest findings. Which of them comes first depends on the order of the files, and decides nothing.
fn deciding_rules(decision: &Decision) -> Vec<&str> {
    let strictest = decision.findings.iter().filter(|finding| finding.verdict == decision.verdict);
    strictest.map(|finding| finding.rule.as_str()).collect()
}

/// What castellan makes of the payload that the agent would send. A case whose input the agent would not send so has
/// problems, and is no case.
fn call_of(case: &CaseCall) -> Call {
    let agent: AgentId = case.agent.as_deref().unwrap_or("claude").parse().unwrap_or_else(|e| panic!("{e}"));
    let payload = json!({
        "session_id": "s", "cwd": case.cwd.as_deref().unwrap_or(CWD), "hook_event_name": "PreToolUse",
        "tool_name": case.tool, "tool_input": case.input, "tool_use_id": "u",
    });
    let origin = Origin { correlation_id: 1, ..Origin::default() };
    match decode(agent, "PreToolUse", payload.to_string().as_bytes(), &origin) {
        Ok(Incoming::Question(call)) if call.problems.is_empty() => call,
        other => panic!("not a call of {agent:?}: {case:?}\n{other:?}"),
    }
}

/// A world without files, but for one symlink: paths lead where they say.
struct Links {
    path: Option<String>,
    real: Option<String>,
}

impl World for Links {
    fn answer(&self, query: &Query) -> Option<Answer> {
        let Query::RealPath { base, path } = query else { return None };
        let linked = self.real.clone().filter(|_| self.path.as_ref() == Some(path));
        Some(Answer::RealPath(linked.unwrap_or_else(|| lexical(base, path))))
    }
}

fn lexical(base: &str, path: &str) -> String {
    let joined = if path.starts_with('/') { path.to_owned() } else { format!("{base}/{path}") };
    let mut parts: Vec<&str> = Vec::new();
    for part in joined.split('/') {
        match part {
            "" | "." => {}
            ".." => drop(parts.pop()),
            _ => parts.push(part),
        }
    }
    format!("/{}", parts.join("/"))
}
