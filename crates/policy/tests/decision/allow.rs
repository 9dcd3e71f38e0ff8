//! Allow rules: every leaf of a call must be covered.

use std::collections::BTreeSet;

use castellan_event::{
    Call, Command, Doubt, Effect, EffectKind, Facts, Layer, Object, Role, ToolKind, Verdict, Why, Written,
};
use castellan_policy::{AllowOrDefer, Settings};
use proptest::prelude::*;

use crate::support::{bash, call, judge, layered, policy, rule};

/// Effects: the index of the command with the effect, the index of the file that the tool changes, and the kind.
type Effects = [(Option<usize>, Option<usize>, &'static str)];

fn facts(commands: &[&Command], effects: &Effects) -> Facts {
    let effect = |(command, file, kind): &(Option<usize>, Option<usize>, &str)| {
        // An Opaque part has a role that does not ask by itself.
        let doubt = Doubt { role: Some(Role::Operand), why: Why::Unsupported };
        let object = Object::Unknown(doubt);
        Effect { command: *command, file: *file, object, ..Effect::of(kind.parse().unwrap()) }
    };
    Facts {
        commands: commands.iter().copied().cloned().collect(),
        effects: effects.iter().map(effect).collect(),
        ..Facts::default()
    }
}

fn command(name: &str) -> Command {
    Command { name: Some(name.to_owned()), line: name.to_owned(), ..Command::default() }
}

/// Checks whether a call is allowed with an allow rule for each condition.
fn check(call: &Call, facts: &Facts, conditions: &[&str], allowed: bool) {
    let rules: String = conditions
        .iter()
        .enumerate()
        .map(|(number, condition)| rule(&format!("r{number}"), condition, "coding_agent_allow"))
        .collect();
    let expected = if allowed { Verdict::Allow } else { Verdict::Defer };
    let got = judge(call, facts, &policy(&rules, AllowOrDefer::Defer)).verdict;
    assert_eq!(got, expected, "{conditions:?} on {facts:?}");
}

const OPAQUE: &str = EffectKind::Opaque.as_str();
const READ: &str = "fx.kind = read";
const WRITE: &str = "fx.kind = write";
const LS: &str = "cmd.name = ls";
const BASH: &str = "tool.name = Bash";

#[test]
fn every_effect_needs_a_match() {
    let shell = bash("x");
    let (ls, cat) = (command("ls"), command("cat"));
    let one = facts(&[&ls], &[(Some(0), None, "read")]);
    let two = facts(&[&ls], &[(Some(0), None, "read"), (Some(0), None, "write")]);
    let opaque = facts(&[&ls], &[(Some(0), None, "read"), (Some(0), None, OPAQUE)]);
    let redirect = facts(&[], &[(None, None, "write")]);
    check(&shell, &one, &[READ], true);
    check(&shell, &one, &[WRITE], false);
    check(&shell, &two, &[READ], false);
    check(&shell, &two, &[READ, WRITE], true);
    check(&shell, &two, &[LS], true);
    check(&shell, &redirect, &[WRITE], true);
    // Nothing covers an Opaque leaf.
    check(&shell, &opaque, &[LS], false);
    check(&shell, &opaque, &["fx.kind exists"], false);
    // A command without effects is a leaf beside the effects of another command.
    let beside = facts(&[&ls, &cat], &[(Some(0), None, "read")]);
    check(&shell, &beside, &[READ], false);
    check(&shell, &beside, &[LS], false);
    check(&shell, &beside, &[READ, "cmd.name = cat"], true);
    check(&shell, &beside, &["cmd.name in (ls, cat)"], true);
}

#[test]
fn a_rule_on_the_whole_call_counts_only_without_commands() {
    let write = call("Write", ToolKind::Write, "", &["/w/a"]);
    let patch = call("Edit", ToolKind::Patch, "", &["/w/a", "/w/b"]);
    let nothing = Facts::default();
    // Shell text without recognized commands is Opaque.
    check(&bash("ls"), &nothing, &[BASH], false);
    check(&bash("ls"), &facts(&[&command("ls")], &[]), &[BASH], false);
    check(&bash("> a"), &facts(&[], &[(None, None, "write")]), &[BASH], false);
    check(&call("WebSearch", ToolKind::Web, "", &[]), &nothing, &["tool.name = WebSearch"], true);
    check(&write, &nothing, &["tool.file_path = /w/a"], true);
    check(&write, &facts(&[], &[(None, Some(0), "write")]), &["tool.file_path = /w/a"], true);
    check(&write, &facts(&[], &[(None, Some(0), "write")]), &["tool.file_path = /w/b"], false);
    check(&write, &facts(&[&command("ls")], &[(None, Some(0), "write")]), &["tool.name = Write"], false);
    check(&write, &facts(&[], &[(None, Some(0), OPAQUE)]), &["tool.name = Write"], false);
    // Each of several files needs its own match; an effect without file belongs to all of them.
    let each = facts(&[], &[(None, Some(0), "write"), (None, Some(1), "delete")]);
    check(&patch, &each, &["tool.file_path = /w/a"], false);
    check(&patch, &each, &["tool.file_path = /w/a", "tool.file_path = /w/b"], true);
    check(&patch, &each, &["tool.file_path = /w/a", "fx.kind = delete"], true);
    let first = facts(&[], &[(None, Some(0), "write")]);
    check(&patch, &first, &[WRITE], false);
    check(&patch, &first, &[WRITE, "tool.file_path = /w/b"], true);
    let common = facts(&[], &[(None, Some(0), "write"), (None, Some(1), "write"), (None, None, "connect")]);
    check(&patch, &common, &[WRITE, "tool.file_path = /w/a"], false);
    check(&patch, &common, &[WRITE, "tool.name = Edit"], true);
}

#[test]
fn a_rule_on_a_command_covers_it_unless_something_makes_it_another() {
    let wrapped = Command { wrappers: vec!["sudo".into()], ..command("ls") };
    let neutral = Command { wrappers: vec!["nice".into()], wrappers_are_neutral: true, ..command("ls") };
    let remote = Command { remote: Some("host".into()), ..command("ls") };
    let env = Command { env: vec!["LD_PRELOAD=x".into()], ..command("ls") };
    let all = Command { wrappers: wrapped.wrappers.clone(), remote: remote.remote.clone(), ..env.clone() };
    for effects in [&[][..], &[(Some(0), None, "read")]] {
        let check = |command: &Command, conditions: &[&str], allowed| {
            check(&bash("x"), &facts(&[command], effects), conditions, allowed);
        };
        check(&command("ls"), &[LS], true);
        check(&neutral, &[LS], true);
        check(&wrapped, &[LS], false);
        check(&remote, &[LS], false);
        check(&env, &[LS], false);
        check(&wrapped, &["cmd.name = ls and cmd.wrappers in (sudo)"], true);
        check(&remote, &["cmd.name = ls and cmd.remote = host"], true);
        check(&env, &["cmd.name = ls and cmd.env exists"], true);
        check(&all, &["cmd.name = ls and cmd.wrappers in (sudo) and cmd.remote = host"], false);
        // A second alternative on a finer field does not widen a rule on the command or the call.
        check(&wrapped, &["cmd.name = ls or fx.kind = connect"], false);
        check(&command("ls"), &["tool.name = Bash or fx.kind = connect"], false);
        check(&command("ls"), &["tool.name = Bash or cmd.name = cat"], false);
    }
    // A rule on an effect covers it for any command.
    let effects = [(Some(0), None, "read")];
    check(&bash("x"), &facts(&[&wrapped], &effects), &[READ], true);
    check(&bash("x"), &facts(&[&wrapped], &effects), &["cmd.name = ls and fx.kind = read"], true);
}

#[test]
fn what_a_file_would_do_that_is_written_is_a_row_of_its_own() {
    let mut facts = facts(&[&command("ls")], &[(Some(0), None, "read")]);
    facts.written = Written { commands: vec![command("cat")], effects: facts.effects.clone() };
    let check = |condition: &str, expected: &[usize]| {
        let decision = judge(&bash("x"), &facts, &policy(&rule("r", condition, ""), AllowOrDefer::Defer));
        let rows: Vec<usize> = decision.findings.iter().flat_map(|finding| finding.rows.clone()).collect();
        assert_eq!(rows, expected, "{condition}");
    };
    check("fx.kind = read", &[2]);
    check("not fx.kind = write", &[2]);
    check("cmd.name = cat", &[]);
    check("fx.kind = read and fx.when = written", &[3]);
    check("cmd.name = cat and fx.when exists", &[3]);
    check("cmd.name = ls and fx.when exists", &[]);
    check("fx.kind = read and not fx.when = written", &[]);
    check("fx.kind = read and (row.level = effect or fx.when = written)", &[2, 3]);
}

#[test]
fn a_rule_is_reported_once_with_its_rows() {
    let facts = facts(&[&command("ls"), &command("cat"), &command("ls")], &[(Some(2), None, "read")]);
    let rules = rule("list", LS, "coding_agent_deny") + &rule("shell", BASH, "");
    let decision = judge(&bash("x"), &facts, &policy(&rules, AllowOrDefer::Defer));
    let found: Vec<_> =
        decision.findings.iter().map(|finding| (finding.rule.as_str(), finding.rows.clone())).collect();
    // A rule is not tested on rows finer than its fields.
    assert_eq!(found, [("list", vec![1, 3]), ("shell", vec![0])]);
}

/// The level is a field of the call, but the rows of one call differ in it.
#[test]
fn each_row_has_its_own_level() {
    let facts = facts(&[&command("ls")], &[(Some(0), None, "read")]);
    let rules = [
        ("call", "row.level = call and tool.name = Bash"),
        ("command", "row.level = command and cmd.name exists"),
        ("effect", "row.level = effect and fx.kind exists"),
        ("other", "row.level != call and cmd.name exists"),
    ];
    let text: String =
        rules.iter().map(|(name, condition)| rule(name, condition, "coding_agent_deny")).collect();
    let decision = judge(&bash("x"), &facts, &policy(&text, AllowOrDefer::Defer));
    let found: Vec<_> =
        decision.findings.iter().map(|finding| (finding.rule.as_str(), finding.rows.clone())).collect();
    let expected = [("call", vec![0]), ("command", vec![1]), ("effect", vec![2]), ("other", vec![1])];
    assert_eq!(found, expected);
}

const CONDITIONS: [&str; 8] = [
    READ,
    WRITE,
    LS,
    BASH,
    "cmd.name exists",
    "fx.kind exists",
    "cmd.name = ls or fx.kind = read",
    "tool.name != Bash",
];
const TAGS: [&str; 5] =
    ["coding_agent_allow", "coding_agent_deny", "coding_agent_ask", "coding_agent_review", ""];

/// Rules by number: each condition with each tag.
fn text(picked: &BTreeSet<usize>) -> String {
    let rule = |number: &usize| {
        let (condition, tag) = (CONDITIONS[number % CONDITIONS.len()], TAGS[number / CONDITIONS.len()]);
        rule(&format!("r{number}"), condition, tag)
    };
    picked.iter().map(rule).collect()
}

fn rules() -> impl Strategy<Value = BTreeSet<usize>> {
    prop::collection::btree_set(0..CONDITIONS.len() * TAGS.len(), 0..6)
}

fn any_facts() -> impl Strategy<Value = Facts> {
    let command = (prop::sample::select(vec!["ls", "cat"]), any::<bool>(), any::<bool>()).prop_map(
        |(name, wrapped, neutral)| Command {
            wrappers: if wrapped { vec!["w".into()] } else { vec![] },
            wrappers_are_neutral: neutral,
            ..command(name)
        },
    );
    let effect = (prop::option::of(0..3usize), prop::sample::select(vec!["read", "write", OPAQUE]))
        .prop_map(|(command, kind)| Effect { command, ..Effect::of(kind.parse().unwrap()) });
    (prop::collection::vec(command, 0..3), prop::collection::vec(effect, 0..4))
        .prop_map(|(commands, effects)| Facts { commands, effects, ..Facts::default() })
}

fn any_call() -> impl Strategy<Value = Call> {
    prop::sample::select(vec![bash("x"), call("Write", ToolKind::Write, "", &["/w/a"])])
}

proptest! {
    #[test]
    fn a_rule_that_is_no_allow_never_loosens(
        call in any_call(), facts in any_facts(), picked in rules(), added in CONDITIONS.len()..CONDITIONS.len() * TAGS.len(),
    ) {
        let before = judge(&call, &facts, &policy(&text(&picked), AllowOrDefer::Defer)).verdict;
        let mut more = picked;
        more.insert(added);
        prop_assert!(judge(&call, &facts, &policy(&text(&more), AllowOrDefer::Defer)).verdict >= before);
    }

    #[test]
    fn without_a_rule_that_allows_nothing_more_is_allowed(
        call in any_call(), facts in any_facts(), picked in rules(), removed in 0..CONDITIONS.len(),
    ) {
        let before = judge(&call, &facts, &policy(&text(&picked), AllowOrDefer::Defer)).verdict;
        let mut fewer = picked;
        fewer.remove(&removed);
        let after = judge(&call, &facts, &policy(&text(&fewer), AllowOrDefer::Defer)).verdict;
        prop_assert!(after == before || (before, after) == (Verdict::Allow, Verdict::Defer));
    }

    #[test]
    fn what_is_not_understood_never_loosens(
        call in any_call(), facts in any_facts(), picked in rules(), command in prop::option::of(0..3usize),
    ) {
        let policy = policy(&text(&picked), AllowOrDefer::Defer);
        let before = judge(&call, &facts, &policy).verdict;
        let mut more = facts;
        more.effects.push(Effect { command, ..Effect::of(EffectKind::Opaque) });
        let after = judge(&call, &more, &policy).verdict;
        prop_assert!(after != Verdict::Allow);
        prop_assert!(after >= before || before == Verdict::Allow);
    }

    #[test]
    fn what_a_file_would_do_that_is_written_is_for_rules_that_name_it(
        call in any_call(), facts in any_facts(), written in any_facts(), picked in rules(),
    ) {
        let policy = policy(&text(&picked), AllowOrDefer::Defer);
        let before = judge(&call, &facts, &policy);
        let written = Written { commands: written.commands, effects: written.effects };
        let after = judge(&call, &Facts { written, ..facts }, &policy);
        prop_assert_eq!(before, after);
    }

    #[test]
    fn a_layer_never_loosens(call in any_call(), facts in any_facts(), upper in rules(), lower in rules()) {
        let (upper, lower) = (text(&upper), text(&lower));
        let judge = |layers: &[(Layer, &str)]| judge(&call, &facts, &layered(layers, Settings::default())).verdict;
        let both = judge(&[(Layer::Organisation, &upper), (Layer::User, &lower)]);
        prop_assert!(both >= judge(&[(Layer::Organisation, &upper)]));
        prop_assert!(both >= judge(&[(Layer::User, &lower)]));
    }
}
