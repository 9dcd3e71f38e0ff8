//! Rules that another process tests: the decision is that of castellan's own engine, and without an answer it is a deny.

use std::collections::BTreeSet;

use castellan_event::{
    Call, CallRow, Code, Command, Effect, FIELDS, Facts, Layer, Mode, Recorder, Role, ToolKind, Verdict, Why,
};
use castellan_policy::{Decision, Policy, RuleState, Settings, State, Tester, drive};
use castellan_rules::{Matching, Options, RuleSet, Source, load};

use crate::support::{Lexical, bash, call, loaded_with, rule, state};

pub(crate) const GENERATION: &str = "the rules";

/// Another engine. It tests all rules of the first two layers and knows no states.
#[derive(Debug)]
pub(crate) struct Other {
    layers: Vec<RuleSet>,
    /// Changes the answer.
    spoil: fn(&mut Vec<Vec<u64>>) -> Result<(), String>,
}

impl Tester for Other {
    fn test(
        &self,
        generation: Option<&str>,
        rows: &[CallRow<'_>],
        marks: &[&str],
    ) -> Result<Vec<Vec<u64>>, String> {
        assert_eq!((generation, marks), (Some(GENERATION), &[][..]));
        let mut found = Vec::new();
        for row in rows {
            let (mut first, mut numbers) = (0, Vec::new());
            for rules in &self.layers {
                numbers.extend(rules.evaluate(row).iter().map(|hit| (first + hit.rule) as u64));
                first += rules.rules().len();
            }
            found.push(numbers);
        }
        (self.spoil)(&mut found).map(|()| found)
    }
}

fn layers() -> [(Layer, String); 3] {
    let of = |name: &str, condition: &str, tags: &str| rule(name, condition, tags);
    [
        (
            Layer::Organisation,
            of("organisation", "tool.file_path endswith y", "coding_agent_deny")
                + &of("same", "cmd.name = ls", "coding_agent_allow")
                + &of("reviewed", "cmd.name = push", "coding_agent_review"),
        ),
        (
            Layer::User,
            of("deny", "tool.file_path endswith x", "coding_agent_deny")
                + &of("disabled", "tool.name exists", "coding_agent_deny")
                    .replace("  tags", "  enabled: false\n  tags")
                + &of(
                    "ask",
                    "tool.file_path endswith x or cmd.name = rm",
                    "coding_agent_ask, \"coding_agent_mark:asked\"",
                )
                + &of("same", "cmd.name in (ls, rm)", "coding_agent_allow")
                + &of("effects", "fx.kind = delete", "coding_agent_ask")
                + &of("contained", "cmd.name = build", "coding_agent_contain"),
        ),
        (Layer::Project, of("project", "cmd.name = make", "coding_agent_ask")),
    ]
}

fn policy(matching: Matching, held: &[(&str, RuleState)]) -> Policy {
    policy_of(matching, held, Settings::default())
}

pub(crate) fn policy_of(matching: Matching, held: &[(&str, RuleState)], settings: Settings) -> Policy {
    let options = Options { matching, ..Options::default() };
    let layers = layers();
    let layers: Vec<(Layer, &str)> = layers.iter().map(|(layer, text)| (*layer, text.as_str())).collect();
    let state_of = |name: &str| {
        held.iter().find(|(rule, _)| *rule == name).map_or(RuleState::Enforce, |(_, state)| *state)
    };
    loaded_with(&options, &layers, settings).with_states(|of| state_of(&of.rule.name))
}

pub(crate) fn other(spoil: fn(&mut Vec<Vec<u64>>) -> Result<(), String>) -> Other {
    let loaded = |(_, text): (Layer, String)| {
        let source = Source { name: "test.yaml".into(), text };
        load(&[source], FIELDS, &Options::default()).rules
    };
    let others = layers().into_iter().filter(|(layer, _)| *layer != Layer::Project);
    Other { layers: others.map(loaded).collect(), spoil }
}

pub(crate) fn calls() -> Vec<(Call, Facts)> {
    let command =
        |name: &str| Command { name: Some(name.to_owned()), line: name.to_owned(), ..Command::default() };
    let effect = |kind: &str| Effect { command: Some(0), ..Effect::of(kind.parse().unwrap()) };
    let facts = |names: &[&str], kinds: &[&str]| Facts {
        commands: names.iter().map(|name| command(name)).collect(),
        effects: kinds.iter().map(|kind| effect(kind)).collect(),
        ..Facts::default()
    };
    let unread = Effect { command: Some(0), ..Effect::opaque(Role::Code, Why::Variable, None) };
    vec![
        (call("Read", ToolKind::Read, "", &["/w/x", "/w/y"]), Facts::default()),
        (call("Read", ToolKind::Read, "", &["/w/z"]), Facts::default()),
        (bash("ls"), facts(&["ls"], &["read"])),
        (bash("ls; rm x"), facts(&["rm", "ls"], &["delete", "read"])),
        (bash("make"), facts(&["make"], &[])),
        (bash("push"), facts(&["push"], &["upload"])),
        (bash("build"), facts(&["build"], &["download"])),
        (bash("eval x"), Facts { effects: vec![unread], ..facts(&["ls"], &[]) }),
        (call("Magic", ToolKind::Unknown, "", &[]), Facts::default()),
    ]
}

fn judge(
    call: &Call,
    facts: &Facts,
    policy: &Policy,
    (mode, tester): (Mode, Option<&dyn Tester>),
) -> Decision {
    let state = State { tester, ..state(mode, true) };
    drive(call, facts, policy, &state, &mut Recorder::new(&Lexical)).0
}

#[test]
fn the_decision_does_not_depend_on_who_tests_the_rules() {
    let tester = other(|_| Ok(()));
    let mut verdicts = BTreeSet::new();
    let all: [&[(&str, RuleState)]; 4] = [
        &[],
        &[("deny", RuleState::Off)],
        &[("deny", RuleState::Observe)],
        &[("same", RuleState::Off), ("ask", RuleState::Observe)],
    ];
    for matching in [Matching::All, Matching::First] {
        for (held, mode) in all.iter().flat_map(|held| Mode::ALL.map(|mode| (held, mode))) {
            for (call, facts) in calls() {
                // castellan's own engine asks no other program.
                let native = judge(&call, &facts, &policy(matching, held), (mode, Some(&tester)));
                let remote = policy(matching, held).tested_elsewhere(Some(GENERATION.to_owned()));
                let found = judge(&call, &facts, &remote, (mode, Some(&tester)));
                assert_eq!(found, native, "{held:?} {:?}", call.command);
                verdicts.insert(native.verdict);
            }
        }
    }
    assert!(
        verdicts.is_superset(&BTreeSet::from([Verdict::Defer, Verdict::Ask, Verdict::Deny])),
        "{verdicts:?}"
    );
}

#[test]
fn without_an_answer_a_call_is_denied_with_the_reason() {
    let check_with = |tester: Option<&dyn Tester>, reason: &str| {
        let remote = policy(Matching::All, &[]).tested_elsewhere(Some(GENERATION.to_owned()));
        for (call, facts) in calls() {
            let decision = judge(&call, &facts, &remote, (Mode::Enforce, tester));
            assert_eq!((decision.verdict, decision.answer), (Verdict::Deny, Verdict::Deny));
            let found = decision.findings.iter().find(|finding| finding.code == Code::FailClosed).unwrap();
            assert!(found.message.contains(reason), "{}", found.message);
        }
    };
    check_with(None, "no program is there");
    let check = |tester: Other, reason: &str| check_with(Some(&tester), reason);
    check(other(|_| Err("Falco is gone".to_owned())), "Falco is gone");
    check(other(|found| found.pop().map(|_| ()).ok_or_else(String::new)), "another number of rows");
    check(
        other(|found| {
            found.push(Vec::new());
            Ok(())
        }),
        "another number of rows",
    );
}
