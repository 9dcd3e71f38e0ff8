//! Tests of several files: names that one file may use of another, the file of a problem, and the reported matches.

use castellan_event::{FIELDS, Row, Value};
use castellan_rules::{Matching, Options, RuleSet, Source, load};

struct Bash;

impl Row for Bash {
    fn value(&self, field: usize, _: Option<&str>) -> Value<'_> {
        match FIELDS[field].name {
            "tool.name" => Value::Text(b"Bash".as_slice().into()),
            _ => Value::Absent,
        }
    }
}

fn rule(name: &str, condition: &str) -> String {
    let rest = "output: o\n  priority: INFO\n  source: coding_agent\n";
    format!("- rule: {name}\n  desc: d\n  condition: {condition}\n  {rest}")
}

/// Loads files named 0, 1, ..., and compares the problems as `file: code`, and the names of the matching rules.
fn check(files: &[&str], options: &Options, expected_problems: &[&str], expected_hits: &[&str]) {
    let named = |(index, text): (usize, &&str)| Source { name: index.to_string(), text: (*text).to_owned() };
    let sources: Vec<Source> = files.iter().enumerate().map(named).collect();
    let loaded = load(&sources, FIELDS, options);
    let problems: Vec<_> =
        loaded.problems.iter().map(|problem| format!("{}: {}", problem.file, problem.code)).collect();
    assert_eq!(problems, expected_problems, "{files:#?}");
    let hits = loaded.rules.evaluate(&Bash);
    let names: Vec<_> = hits.iter().map(|hit| loaded.rules.rules()[hit.rule].name.as_str()).collect();
    assert_eq!(names, expected_hits, "{files:#?}");
}

/// Some editors write a byte order mark first; Falco's YAML library ignores it, too.
#[test]
fn a_byte_order_mark_at_the_start_is_passed_over() {
    let marked = format!("\u{feff}{}", rule("r", "tool.name = Bash"));
    check(&[&marked], &Options::default(), &[], &["r"]);
    let inside = format!("{}\u{feff}{}", rule("r", "tool.name = Bash"), rule("s", "tool.name = Bash"));
    check(&[&inside], &Options::default(), &["0: LOAD_ERR_YAML_PARSE"], &[]);
}

#[test]
fn files_load_cumulatively() {
    let all = Options::default();
    let uses = rule("uses", "is_bash");
    let defines = "- macro: is_bash\n  condition: tool.name = Bash\n";
    check(&[defines, &uses], &all, &[], &["uses"]);
    check(&[&uses, defines], &all, &["0: LOAD_ERR_VALIDATE"], &["uses"]);

    let (first, second) = (rule("first", "tool.name = Bash"), rule("second", "tool.name exists"));
    let narrows = "- rule: first\n  condition: and tool.name = x\n  override: {condition: append}\n";
    check(&[&first, &second, narrows], &all, &[], &["second"]);
    let breaks = "- rule: first\n  condition: and nothing\n  override: {condition: append}\n";
    check(&[&first, &second, breaks], &all, &["2: LOAD_ERR_VALIDATE"], &["second"]);

    // A broken definition is one problem, not one for each use.
    check(
        &["- macro: is_bash\n  condtion: x\n", &uses],
        &all,
        &["0: LOAD_ERR_YAML_VALIDATE", "0: LOAD_UNKNOWN_KEY"],
        &[],
    );
    // After a file that cannot be read to its end, unknown names are not reported.
    check(&["- macro: [\n", &uses], &all, &["0: LOAD_ERR_YAML_PARSE"], &[]);
}

#[test]
fn first_match_wins_where_asked_for() {
    let (first, second) = (rule("first", "tool.name = Bash"), rule("second", "tool.name exists"));
    let options = Options { matching: Matching::First, ..Options::default() };
    check(&[&first, &second], &options, &[], &["first"]);
    check(&[&second, &first], &options, &[], &["second"]);
    check(&[&second, &first], &Options::default(), &[], &["second", "first"]);
    // A redefined rule keeps its place.
    check(&[&second, &first, &second], &options, &[], &["second"]);
}

#[test]
fn a_rule_set_can_be_shared() {
    fn shared<T: Send + Sync + Default>() -> T {
        T::default()
    }
    assert!(shared::<RuleSet>().evaluate(&Bash).is_empty());
}
