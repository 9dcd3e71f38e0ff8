//! Tests of lints: every `tests/data/lints/*.yaml` against the `.expect` file beside it, which has the problems with
//! the codes in its first line (rules below `# Silent.` have none). For random conditions: an "always" or "never"
//! warning holds on every row. `UPDATE_EXPECT=1` rewrites the `.expect` files: review the difference.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use castellan_event::{FieldArg, FieldDef, FieldType, Level, Row, Value};
use castellan_rules::{Engine, Loaded, Matching, Options, Problem, Source, load};
use proptest::prelude::*;

fn lint(text: &str, fields: &[FieldDef<'_>], options: &Options) -> Loaded {
    let sources = [Source { name: "rules.yaml".to_owned(), text: text.to_owned() }];
    load(&sources, fields, &Options { lints: true, ..options.clone() })
}

#[test]
fn lints() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/lints");
    let files = std::fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path());
    let is_yaml = |file: &PathBuf| file.extension().is_some_and(|extension| extension == "yaml");
    let mut checked = 0;
    for file in files.filter(is_yaml) {
        let text = std::fs::read_to_string(&file).unwrap();
        let loaded = lint(&text, castellan_event::FIELDS, &Options::default());
        assert!(!loaded.has_errors(), "{}: {:?}", file.display(), loaded.problems);
        let about = text.lines().next().unwrap();
        let silent = text.split("# Silent.").next().unwrap().lines().count();
        let mut found = String::new();
        for problem in loaded.problems.iter().filter(|problem| about.contains(problem.code)) {
            assert!(problem.line <= silent, "{}: {}", file.display(), problem.one_line());
            writeln!(found, "{}\n", problem.render(Some(&text))).unwrap();
        }
        let expect = file.with_extension("expect");
        if std::env::var_os("UPDATE_EXPECT").is_some() {
            std::fs::write(&expect, &found).unwrap();
        }
        assert_eq!(found, std::fs::read_to_string(&expect).unwrap_or_default(), "{}", expect.display());
        checked += 1;
    }
    assert!(checked >= 8, "the files are there");
}

/// Only Falco 0.44 has `allof`.
#[test]
fn all_of_nothing_is_always_true() {
    for (condition, expected) in [
        ("tool.name = allof ()", &["CASTELLAN_ALWAYS"][..]),
        ("tool.name = allof (Bash)", &[]),
        ("tool.name = anyof (Bash, Read)", &[]),
    ] {
        let text = format!(
            "- rule: r\n  desc: d\n  condition: {condition}\n  output: o\n  priority: INFO\n  source: coding_agent\n"
        );
        let loaded =
            lint(&text, castellan_event::FIELDS, &Options { engine: Engine::V0_44, ..Options::default() });
        let codes: Vec<&str> = loaded.problems.iter().map(|problem| problem.code).collect();
        assert_eq!(codes, expected, "{condition}");
    }
}

/// Rules about rows of two levels, tested on rows of both. Their messages name only fields that both levels have.
const OF_BOTH: &[&str] = &[
    "rule 'Ask before acting as another user'",
    "rule 'Ask before destroying data from code'",
    "rule 'Ask before making an editor start something'",
    "rule 'Ask before starting processes without end'",
    "rule 'Deny shells that serve a connection'",
];

#[test]
fn the_shipped_rules_have_none() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../rules");
    let files = std::fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path());
    let is_rules = |file: &PathBuf| !file.to_str().unwrap().ends_with("_cases.yaml");
    let mut files: Vec<PathBuf> = files.filter(is_rules).collect();
    files.sort();
    let source = |file: &PathBuf| Source {
        name: file.file_name().unwrap().to_str().unwrap().to_owned(),
        text: std::fs::read_to_string(file).unwrap(),
    };
    let sources: Vec<Source> = files.iter().map(source).collect();
    let options = Options { lints: true, ..Options::default() };
    let loaded = load(&sources, castellan_event::FIELDS, &options);
    assert!(loaded.rules.rules().len() > 20, "the rules are there");
    let is_meant = |problem: &Problem| {
        problem.code == "CASTELLAN_MIXED_LEVELS" && OF_BOTH.contains(&problem.item.as_str())
    };
    let (meant, other): (Vec<Problem>, Vec<Problem>) = loaded.problems.into_iter().partition(is_meant);
    assert_eq!(other, []);
    assert_eq!(meant.len(), OF_BOTH.len(), "a rule that is of one level stands in no list");
}

#[test]
fn lints_are_silent_unless_asked_for() {
    let text = rule("r", "t.s = a and t.s = b");
    let sources = [Source { name: "rules.yaml".to_owned(), text }];
    assert_eq!(load(&sources, FIELDS, &Options::default()).problems, []);
}

#[test]
fn the_first_match_shadows_rules_with_other_tags() {
    let later = format!("{}  tags: [other]\n", rule("later", "t.s = a and t.n = 1"));
    let text = format!("{}{later}", rule("earlier", "t.s = a"));
    let codes = |matching| {
        let loaded = lint(&text, FIELDS, &Options { matching, ..Options::default() });
        loaded.problems.iter().map(|problem| problem.code).collect::<Vec<_>>()
    };
    assert_eq!(codes(Matching::First), ["CASTELLAN_SHADOWED"]);
    assert!(codes(Matching::All).is_empty());
}

static FIELDS: &[FieldDef<'static>] = &[
    field("t.s", FieldType::Text, false),
    field("t.n", FieldType::U64, false),
    field("t.b", FieldType::Bool, false),
    field("t.l", FieldType::Text, true),
];

const fn field(name: &'static str, ty: FieldType, list: bool) -> FieldDef<'static> {
    FieldDef {
        name,
        ty,
        list,
        level: Level::Call,
        arg: FieldArg::None,
        suggested: false,
        words: &[],
        meaning: "",
    }
}

fn rule(name: &str, condition: &str) -> String {
    let rest = "output: o\n  priority: INFO\n  source: coding_agent\n";
    format!("- rule: {name}\n  desc: d\n  condition: {condition:?}\n  {rest}")
}

/// A value for each of [`FIELDS`].
struct Values([Value<'static>; 4]);

impl Row for Values {
    fn value(&self, field: usize, _: Option<&str>) -> Value<'_> {
        self.0[field].clone()
    }
}

/// Returns every combination of values that the constants below distinguish, and of absent values.
fn rows() -> Vec<Values> {
    let text = |text: &'static str| Value::Text(text.as_bytes().into());
    let texts = ["", "a", "A", "ab", "abc", "b", "ba", "c", "ac"].map(text);
    let numbers = [0, 1, 2, 3, 4, 5, u64::MAX].map(Value::U64);
    let lists = [vec![text("a")], vec![text("a"), text("b")], vec![text("c")]].map(Value::List);
    let or_absent = |values: &[Value<'static>]| [values, &[Value::Absent]].concat();
    let mut rows = Vec::new();
    for s in or_absent(&texts) {
        for n in or_absent(&numbers) {
            for b in or_absent(&[Value::Bool(false), Value::Bool(true)]) {
                for l in or_absent(&lists) {
                    rows.push(Values([s.clone(), n.clone(), b.clone(), l]));
                }
            }
        }
    }
    rows
}

fn comparison() -> impl Strategy<Value = String> {
    let word = || prop::sample::select(vec!["a", "A", "ab", "b", "ba", "c"]);
    let words = || prop::collection::vec(word(), 0..3).prop_map(|all| all.join(", "));
    let op = prop::sample::select(vec![
        "=",
        "!=",
        "<",
        ">=",
        "contains",
        "icontains",
        "startswith",
        "endswith",
        "glob",
        "iglob",
        "regex",
        "pmatch",
    ]);
    let order = prop::sample::select(vec!["=", "!=", "<", "<=", ">", ">="]);
    let pattern = prop::sample::select(vec!["a*", "?", "*", "[^a]"]);
    prop_oneof![
        4 => (op, word()).prop_map(|(op, word)| match op {
            // The grammar accepts only numbers, and lists.
            "<" | ">=" => format!("t.s {op} 5"),
            "pmatch" => format!("t.s pmatch ({word})"),
            _ => format!("t.s {op} {word}"),
        }),
        1 => pattern.prop_map(|pattern| format!("t.s glob '{pattern}'")),
        1 => Just("t.s regex '[a-b]+'".to_owned()),
        1 => Just("t.s contains ''".to_owned()),
        2 => words().prop_map(|words| format!("t.s in ({words})")),
        4 => (order, 0..5).prop_map(|(order, number)| format!("t.n {order} {number}")),
        1 => (0..5, 0..5).prop_map(|(one, other)| format!("t.n in ({one}, {other})")),
        2 => any::<bool>().prop_map(|value| format!("t.b = {value}")),
        1 => words().prop_map(|words| format!("t.l in ({words})")),
        1 => words().prop_map(|words| format!("t.l intersects ({words})")),
        1 => prop::sample::select(vec!["t.s", "t.n", "t.b", "t.l"]).prop_map(|field| format!("{field} exists")),
    ]
}

fn condition() -> impl Strategy<Value = String> {
    comparison().prop_recursive(3, 10, 3, |inner| {
        let chain = |inner| prop::collection::vec(inner, 2..4);
        prop_oneof![
            chain(inner.clone()).prop_map(|all| format!("({})", all.join(" and "))),
            chain(inner.clone()).prop_map(|all| format!("({})", all.join(" or "))),
            inner.prop_map(|inner| format!("not ({inner})")),
        ]
    })
}

/// Returns the warning about a whole condition: `Some(true)` for always, `Some(false)` for never.
fn truth_of(loaded: &Loaded) -> Option<bool> {
    let is_said = |truth: &str| {
        let start = format!("the condition is {truth} true");
        loaded.problems.iter().any(|problem| problem.message.starts_with(&start))
    };
    is_said("always").then_some(true).or(is_said("never").then_some(false))
}

/// Checks the warning about one condition, and returns it.
fn is_right(condition: &str, rows: &[Values]) -> Option<bool> {
    let loaded = lint(&rule("r", condition), FIELDS, &Options::default());
    assert!(!loaded.has_errors(), "{condition}: {:?}", loaded.problems);
    let said = truth_of(&loaded)?;
    for row in rows {
        assert_eq!(!loaded.rules.evaluate(row).is_empty(), said, "{condition} on {:?}", row.0);
    }
    Some(said)
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, cases: 128, ..ProptestConfig::default() })]

    #[test]
    fn always_and_never_are_sure(conditions in prop::collection::vec(condition(), 8)) {
        let rows = rows();
        for condition in conditions {
            is_right(&condition, &rows);
        }
    }

    #[test]
    fn of_two_comparisons_too(one in comparison(), other in comparison(), word in prop::sample::select(vec!["and", "or"]),
                              first in prop::sample::select(vec!["", "not "]), second in prop::sample::select(vec!["", "not "])) {
        is_right(&format!("{first}{one} {word} {second}{other}"), &rows());
    }

    #[test]
    fn a_shadowed_rule_matches_nothing_else(
        earlier in condition(), later in condition(), word in prop::sample::select(vec!["and", "or"]), more in comparison()
    ) {
        let rows = rows();
        let joined = format!("{earlier} {word} {more}");
        let turned = format!("{more} {word} {earlier}");
        for (earlier, later) in
            [(&earlier, &joined), (&earlier, &turned), (&joined, &earlier), (&turned, &more), (&earlier, &later)]
        {
            let loaded = lint(&(rule("earlier", earlier) + &rule("later", later)), FIELDS, &Options::default());
            let shadowed = loaded.problems.iter().any(|problem| problem.code == "CASTELLAN_SHADOWED");
            for row in rows.iter().filter(|_| shadowed) {
                let hits: Vec<usize> = loaded.rules.evaluate(row).iter().map(|hit| hit.rule).collect();
                prop_assert!(!hits.contains(&1) || hits.contains(&0), "{} / {} on {:?}", earlier, later, row.0);
            }
        }
    }
}
