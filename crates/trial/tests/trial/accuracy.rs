//! Tests of the counts over labelled calls.

use castellan_daemon::{Config, compile};
use castellan_rules::Source;
use castellan_trial::{Accuracy, Counts, Labelled, Tier, Trial, read_labelled};

/// Denies `rm`, asks about `git`, and defers everything else to the agent.
const RULES: &str = "
- {rule: rm, desc: d, condition: cmd.name = rm, output: o, priority: CRITICAL, source: coding_agent, tags: [coding_agent_deny]}
- {rule: git, desc: d, condition: cmd.name = git, output: o, priority: WARNING, source: coding_agent, tags: [coding_agent_ask]}
";

fn calls(lines: &[(&str, &str)]) -> Vec<Labelled> {
    let line = |(at, (tier, command)): (usize, &(&str, &str))| {
        let call = serde_json::json!({
            "v": 1, "id": format!("n{at}"), "tier": tier, "family": "some.family", "tool": "Bash",
            "input": { "command": command }, "disguise": command.contains('\\'),
        });
        format!("{call}\n")
    };
    let (read, wrong) = read_labelled("x.jsonl", &lines.iter().enumerate().map(line).collect::<String>());
    assert_eq!(wrong, []);
    read
}

#[test]
fn verdicts_are_counted_by_tier_and_misses_named() {
    let sources = [Source { name: "r.yaml".to_owned(), text: RULES.to_owned() }];
    let compiled = compile(&sources, &Config::default());
    assert_eq!(compiled.error(), None);
    let calls = calls(&[
        ("T0", "rm x"),
        ("T0", "git x"),
        ("T0", "r\\m x"),
        ("T0", "ls"),
        ("T1", "git x"),
        ("T1", "ls"),
        ("T2", "rm x"),
        ("T2", "git x"),
        ("T3", "git x"),
        ("T3", "ls"),
        ("TU", "ls"),
        ("TU", "git x"),
    ]);
    let accuracy = Accuracy::measure(Trial::new(&compiled.policy), &calls);
    let counts = |deny, ask, defer| Counts { deny, ask, allow: 0, defer };
    let expected = [
        (Tier::T0, counts(2, 1, 1)),
        (Tier::T1, counts(0, 1, 1)),
        (Tier::T2, counts(1, 1, 0)),
        (Tier::T3, counts(0, 1, 1)),
        (Tier::TU, counts(0, 1, 1)),
    ];
    assert_eq!(accuracy.tiers(), expected.into());
    assert_eq!(accuracy.disguises(), [(Tier::T0, counts(1, 0, 0))].into());
    assert_eq!(accuracy.families().len(), 5);
    let misses: Vec<_> =
        accuracy.misses().map(|(outcome, why)| (outcome.labelled.line, why, outcome.by.join(" "))).collect();
    let expected = [
        (2, "not denied", "git"),
        (4, "not stopped", ""),
        (6, "not stopped", ""),
        (7, "denied", "rm"),
        (9, "interrupted", "git"),
        (11, "let through", ""),
    ];
    let reported: Vec<_> = misses.iter().map(|(line, why, by)| (*line, *why, by.as_str())).collect();
    assert_eq!(reported, expected);
    // Four of the six T0 and T1 calls are stopped. The denied T2 and the asked T3 are stopped wrongly.
    assert_eq!(accuracy.recall(), Some(4.0 / 6.0));
    assert_eq!(accuracy.precision(), Some(4.0 / 6.0));
    assert!(accuracy.time(0.5) <= accuracy.time(0.99));
    assert_eq!(Accuracy::default().recall(), None);
    assert_eq!(Accuracy::default().time(0.5), None);
}
