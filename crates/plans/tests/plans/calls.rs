//! Calls and their departures: `data/calls.txt` has plans, each with calls.

use castellan_plans::{CallView, check, covers};

use crate::support::{check_file, departures, facts, read, shown, view};

/// Begins a plan; its YAML follows.
const PLAN: &str = "=== ";
/// Begins a call; its departures follow.
const CALL: &str = "$ ";

#[test]
fn calls_are_compared_with_their_plan() {
    let file = include_str!("data/calls.txt");
    let (head, plans) = file.split_once(PLAN).unwrap();
    let mut found = head.to_owned();
    for block in plans.split(&format!("\n{PLAN}")) {
        let (yaml, calls) = block.split_once(&format!("\n{CALL}")).unwrap();
        let (_, text) = yaml.split_once('\n').unwrap();
        let plan = read(text).unwrap_or_else(|error| panic!("{yaml}: {error}"));
        found.push_str(&format!("{PLAN}{yaml}\n"));
        for call in calls.split(&format!("\n{CALL}")) {
            let text = call.lines().next().unwrap_or_default();
            let facts = facts(text);
            let outside = covers(&plan, &view(&facts)).outside;
            let mut kinds: Vec<&str> = outside.iter().map(|departure| departure.kind.as_str()).collect();
            kinds.dedup();
            let covered = if kinds.is_empty() {
                "covered".to_owned()
            } else {
                format!("not covered: {}", kinds.join(", "))
            };
            found.push_str(&format!("{CALL}{text}\n{}{covered}\n", shown(&departures(&plan, text))));
        }
        found.push('\n');
    }
    check_file("calls.txt", file, &format!("{}\n", found.trim_end()));
}

#[test]
fn budgets_and_the_expiry_end_a_plan() {
    let plan = "castellan_plan: 1\nexpires: 1970-01-01T01:00:00Z\nbudget: {calls: 2, minutes: 10}\n";
    let plan = read(plan).unwrap();
    let facts = facts("ls");
    let check = |calls_so_far, started_s, now_s, expected: &str| {
        let view = CallView { calls_so_far, started_s, now_s, ..view(&facts) };
        let found = shown(&check(&plan, &view));
        assert_eq!(found, expected, "{calls_so_far} {started_s} {now_s}");
        assert!(found.is_empty() || !covers(&plan, &view).is_covered());
    };
    check(0, 0, 0, "");
    check(1, 0, 599, "");
    check(2, 0, 0, "calls: 2 calls\n");
    check(u64::MAX, 0, 0, "calls: 2 calls\n");
    check(0, 0, 600, "minutes: 10 minutes\n");
    check(0, 3_000, 3_599, "");
    check(0, 3_001, 3_600, "expired: 1970-01-01T01:00:00Z\n");
    check(0, i64::MIN, i64::MAX, "expired: 1970-01-01T01:00:00Z\nminutes: 10 minutes\n");
    check(0, i64::MAX, i64::MIN, "");
    let nothing = read("castellan_plan: 1\nbudget: {calls: 0, minutes: 0}\n").unwrap();
    assert_eq!(
        shown(&castellan_plans::check(&nothing, &view(&facts))),
        "calls: 0 calls\nminutes: 0 minutes\n"
    );
}
