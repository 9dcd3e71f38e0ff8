//! Limits of plans, each reached.

#[expect(unreachable_pub, reason = "the file is a module of castellan-corpus")]
#[path = "../../../../corpus/src/limits.rs"]
mod listed;

use castellan_event::{Command, Facts};
use castellan_plans::{
    Analysed, DEPARTURES_MAX, Departure, DepartureKind, Fault, PLAN_BYTES_MAX, Snippet, SnippetKind, check,
    render, scope_of, snippets,
};

use crate::support::{departures, read, view};

/// Limits whose tests are here.
const DRIVEN: &[&str] = &[
    "PLAN_BYTES_MAX",
    "YAML_DEPTH_MAX",
    "YAML_VALUES_MAX",
    "ENTRIES_MAX",
    "STEPS_MAX",
    "TEXT_BYTES_MAX",
    "CONDITION_BYTES_MAX",
    "DEPARTURES_MAX",
    "SUBJECT_BYTES_MAX",
    "HEAD_BYTES_MAX",
    "MARKDOWN_BYTES_MAX",
    "SNIPPETS_MAX",
    "SCOPE_BYTES_MAX",
    "CHECKED_OUT_MAX",
];

/// Limits whose tests are elsewhere.
const ELSEWHERE: &[(&str, &str)] =
    &[("CANDIDATES_MAX", "a nearer name after the limit is not found; the name is only a help for people")];

#[test]
fn no_limit_is_forgotten() {
    listed::check(include_str!("../../src/limits.rs"), DRIVEN.iter().copied(), ELSEWHERE);
}

#[test]
fn plans_over_a_limit_are_an_error() {
    let check = |plan: String, expected: Option<&str>| {
        let found = read(&plan).map_err(|error| error.fault.to_string());
        match (&found, expected) {
            (Ok(_), None) => {}
            (Err(error), Some(expected)) => assert!(error.contains(expected), "{error}: {plan:.60}"),
            _ => panic!("{:?}: {plan:.60}", found.map(|_| ())),
        }
    };
    let list = |key: &str, entry: &str, count: usize| {
        format!("castellan_plan: 1\n{key}:\n{}", format!("- {entry}\n").repeat(count))
    };
    let bare = "castellan_plan: 1\n";
    check(format!("{bare}{}", "#".repeat(PLAN_BYTES_MAX - bare.len())), None);
    check(format!("{bare}{}", "#".repeat(PLAN_BYTES_MAX - bare.len() + 1)), Some("write at most 1048576"));
    check(format!("arms: []\nx: {}{}", "[".repeat(31), "]".repeat(31)), None);
    check(format!("arms: []\nx: {}{}", "[".repeat(32), "]".repeat(32)), Some("32 levels"));
    // Far deeper than the stack.
    check("[".repeat(PLAN_BYTES_MAX), Some("levels"));
    check(format!("arms: []\nx:\n{}", "- 1\n".repeat(49_995)), None);
    check(format!("arms: []\nx:\n{}", "- 1\n".repeat(49_996)), Some("50000 values"));
    check(list("commands", "ls", 2_000), None);
    check(list("commands", "ls", 2_001), Some("2000 entries in all lists of `commands`"));
    check(list("steps", "writes: [a, b, c, d, e]", 400), None);
    check(list("steps", "writes: [a, b, c, d, e]", 401), Some("2000 entries in all lists of `writes`"));
    check(list("steps", "text: x", 500), None);
    check(list("steps", "text: x", 501), Some("500 steps"));
    check(list("hosts", &"x".repeat(4_096), 1), None);
    check(list("hosts", &"x".repeat(4_097), 1), Some("write at most 4096"));
    let condition = |bytes: usize| {
        let text = format!("blis {}", "x".repeat(bytes - 5));
        format!("arms:\n- conditions:\n  - command: {text}\n")
    };
    check(condition(65_536), None);
    check(condition(65_537), Some("write at most 65536"));
    check(format!("arms:\n{}", "- conditions: []\n".repeat(501)), Some("500 steps"));
}

#[test]
fn many_and_long_departures_are_bounded() {
    let plan = read("castellan_plan: 1\ncommands: [ls]\n").unwrap();
    let command = |number: usize| Command {
        name: Some("x".repeat(1_000)),
        line: format!("{number} {}", "é".repeat(10_000)),
        ..Command::default()
    };
    let departed = |count: usize| {
        let facts = Facts { commands: (0..count).map(command).collect(), ..Facts::default() };
        check(&plan, &view(&facts))
    };
    let few = departed(DEPARTURES_MAX - 1);
    assert_eq!(few.len(), DEPARTURES_MAX - 1);
    assert!(few.iter().all(|one| one.kind == DepartureKind::Command && one.nearest.as_deref() == Some("ls")));
    assert!(few.iter().all(|one| one.subject.len() <= 503 && one.subject.ends_with('…')));
    let many = departed(1_000);
    let last = Departure { kind: DepartureKind::More, subject: "937 more".to_owned(), nearest: None };
    assert_eq!((many.len(), many.last()), (DEPARTURES_MAX, Some(&last)));
}

#[test]
fn long_markdown_is_not_read_in_silence() {
    let check = |markdown: &str, count: usize, unread: Option<usize>| {
        let found = snippets(markdown);
        assert_eq!(found.len(), count);
        let last = found.last().filter(|snippet| snippet.kind == SnippetKind::Unread);
        assert_eq!(last.map(|snippet| snippet.line), unread, "{:?}", found.last());
    };
    check(&"`ls -l`\n".repeat(500), 500, None);
    check(&"`ls -l`\n".repeat(501), 501, Some(501));
    check(&format!("{}`rm -rf x`\n", "x\n".repeat(1 << 19)), 1, Some((1 << 19) + 1));
}

#[test]
fn a_proposal_can_be_read_again() {
    let snippet = Snippet { kind: SnippetKind::Block, text: String::new(), line: 1 };
    let command = |arg: String| Command {
        name: Some("x".to_owned()),
        args: vec![arg],
        wrappers_are_neutral: true,
        ..Command::default()
    };
    let check = |commands: Vec<Command>, kept: usize| {
        let facts = Facts { commands, ..Facts::default() };
        let analysed = [Analysed { snippet: &snippet, facts: Some(&facts) }];
        let proposal = scope_of(&analysed, "/w", None);
        let count = proposal.plan.scope().commands.as_ref().unwrap().len();
        assert_eq!(count, kept);
        assert_eq!(proposal.not_covered.is_empty(), kept == facts.commands.len());
        assert_eq!(read(&render(&proposal.plan)).as_ref(), Ok(&proposal.plan));
    };
    check((0..5_000).map(|number| command(format!("{number:04}"))).collect(), 65_536 / (6 + 32));
    check((0..100).map(|number| command(format!("{number:02}{}", "\u{1}".repeat(4_000)))).collect(), 16);
    check(vec![command("y".repeat(4_094))], 1);
    check(vec![command("y".repeat(4_095))], 0);
    assert!(matches!(read(&"x".repeat(PLAN_BYTES_MAX + 1)).unwrap_err().fault, Fault::Size(_)));
}

#[test]
fn many_switches_are_an_unknown_branch() {
    let plan = read("castellan_plan: 1\nbranches: [work, 'b*']\n").unwrap();
    let check = |switches: usize, expected: &[&str]| {
        let switches: String = (1..=switches).map(|number| format!("git switch b{number}; ")).collect();
        let found = departures(&plan, &format!("{switches} git commit -m x"));
        let subjects: Vec<&str> = found.iter().map(|one| one.subject.as_str()).collect();
        assert_eq!(subjects, expected, "{switches}");
    };
    check(15, &[]);
    check(16, &["an unknown branch"]);
}
