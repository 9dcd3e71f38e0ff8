//! Limits of the decision, each reached: the answer is the strict one.

#[expect(unreachable_pub, reason = "the file is a module of castellan-corpus")]
#[path = "../../../../corpus/src/limits.rs"]
mod listed;

use std::cell::Cell;

use castellan_event::{
    Answer, Code, Command, Effect, EffectKind, Facts, Layer, LocatedFile, Mode, Query, Recorder, Scope,
    Verdict, World,
};
use castellan_policy::{AllowOrDefer, Operator, RequestId, Settings, drive};

use crate::support::{Lexical, bash, call, layered, policy, rule, state};

/// Limits whose tests are here.
const DRIVEN: &[&str] =
    &["MESSAGE_BYTES_MAX", "DENIAL_KEYS_MAX", "ROUNDS_MAX", "SUBCOMMAND_PLACES_MAX", "GLOB_BYTES_MAX"];

/// Limits whose tests are elsewhere.
const ELSEWHERE: &[(&str, &str)] = &[
    ("PATTERNS_MAX", "driven by operator::limits_hold_for_lists_and_patterns"),
    ("PATTERN_BYTES_MAX", "driven by operator::limits_hold_for_lists_and_patterns"),
    ("CLASS_WORDS_MAX", "driven by call_class::a_class_is_short_enough_to_be_read"),
    ("CLASS_BYTES_MAX", "driven by call_class::a_class_is_short_enough_to_be_read"),
    ("PROBING_AT", "driven by tries::three_of_one_denial_key_are_probing"),
    ("VALUE_CHARS_MAX", "driven by messages::a_long_path_leaves_room_for_the_reason"),
    ("PROMPT_CHARS_MAX", "driven by messages::people_read_one_visible_line_of_150_characters"),
];

#[test]
fn no_limit_is_forgotten() {
    listed::check(include_str!("../../src/limits.rs"), DRIVEN.iter().copied(), ELSEWHERE);
}

/// A world that answers each query differently, so that the queries never end.
#[derive(Default)]
struct Endless(Cell<usize>);

impl World for Endless {
    fn answer(&self, _: &Query) -> Option<Answer> {
        self.0.set(self.0.get() + 1);
        Some(Answer::Repository(None))
    }
}

#[test]
fn a_world_that_never_says_enough_denies() {
    let policy = policy(&rule("r", "tool.real_file_path = /x", "coding_agent_deny"), AllowOrDefer::Defer);
    let call = call("Write", castellan_event::ToolKind::Write, "", &["/w/a"]);
    let world = Endless::default();
    let (decision, _) =
        drive(&call, &Facts::default(), &policy, &state(Mode::Enforce, true), &mut Recorder::new(&world));
    assert_eq!(decision.verdict, Verdict::Deny);
    assert!(
        decision.findings.iter().any(|finding| finding.code == Code::FailClosed),
        "{:?}",
        decision.findings
    );
}

#[test]
fn a_long_message_is_cut_with_a_mark_and_the_request_stays() {
    let long = rule("r", "tool.name = Bash", "coding_agent_deny").replace("out of r", &"x".repeat(5_000));
    let policy = policy(&long, AllowOrDefer::Defer);
    let (decision, _) = drive(
        &bash("x"),
        &Facts::default(),
        &policy,
        &state(Mode::Enforce, true),
        &mut Recorder::new(&Lexical),
    );
    let text = castellan_policy::agent_text(&decision, RequestId::from_seed(6));
    assert!(text.ends_with("x…. Do not rephrase it. (A7)") && text.len() < 2_200, "{text}");
    assert_eq!(decision.verdict, Verdict::Deny);
}

#[test]
fn many_targets_crowd_out_no_rule() {
    let delete = |number: usize| {
        let path = format!("/w/{number}");
        let file = LocatedFile { raw: path.clone(), path: Some(path), ..LocatedFile::default() };
        Effect { command: Some(0), ..Effect::on_file(EffectKind::Delete, file) }
    };
    let facts = Facts {
        commands: vec![Command { line: "x".to_owned(), ..Command::default() }],
        effects: (0..1_000).map(delete).collect(),
        ..Facts::default()
    };
    let policy = policy(&rule("no deletes", "fx.kind = delete", "coding_agent_deny"), AllowOrDefer::Defer);
    let (_, change) =
        drive(&bash("x"), &facts, &policy, &state(Mode::Enforce, true), &mut Recorder::new(&Lexical));
    assert_eq!(change.denial_keys.len(), 32);
    assert!(change.denial_keys.contains(&"rule user no deletes".to_owned()), "{:?}", change.denial_keys);
}

/// The verdict of a deny pattern on a git command with these words.
fn denied(pattern: &str, args: &[&str], operands: &[&str]) -> Verdict {
    let own = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>();
    let command = Command {
        name: Some("git".to_owned()),
        subcommand: Some("push".to_owned()),
        args: own(args),
        operands: own(operands),
        line: format!("git {}", args.join(" ")),
        ..Command::default()
    };
    let facts = Facts { commands: vec![command], ..Facts::default() };
    judged(pattern, "git", &facts)
}

fn judged(pattern: &str, command: &str, facts: &Facts) -> Verdict {
    let operator = Operator::parse(&[pattern.to_owned()], &[], &[]).unwrap();
    let policy =
        layered(&[(Layer::User, "")], Settings { operators: operator.into(), ..Settings::default() });
    let mut world = Recorder::new(&Lexical);
    drive(&bash(command), facts, &policy, &state(Mode::Enforce, true), &mut world).0.verdict
}

#[test]
fn a_subcommand_is_found_among_many_words_like_it() {
    let mut args = vec!["push"; 20];
    args.insert(0, "-C");
    assert_eq!(denied("Bash(git push:*)", &args, &vec!["push"; 18]), Verdict::Deny);
    let last = ["origin"];
    args.extend(last);
    assert_eq!(
        denied("Bash(git push * origin)", &args, &[vec!["push"; 18], last.to_vec()].concat()),
        Verdict::Deny
    );
}

#[test]
fn a_pattern_of_a_shell_that_is_too_long_may_mean_anything() {
    let path = format!("/w/{}*", "[ab]".repeat(200));
    let place = Some(Scope::Workspace);
    let file = LocatedFile { raw: path.clone(), path: Some(path), place, ..LocatedFile::default() };
    let effect = Effect { command: Some(0), ..Effect::on_file(EffectKind::Read, file) };
    let facts = Facts {
        commands: vec![Command { line: "x".to_owned(), ..Command::default() }],
        effects: vec![effect],
        ..Facts::default()
    };
    assert_eq!(judged("Read(//etc/shadow)", "x", &facts), Verdict::Deny);
}
