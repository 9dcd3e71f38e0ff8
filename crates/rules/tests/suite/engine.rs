//! Compares the engine with two slower ones: a three-valued evaluator of a few operators, in this file, and the plain
//! evaluator of whole rule sets. The conditions and rows are random, on fields of all levels.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use castellan_event::{FieldArg, FieldDef, FieldType, Level, Row, Value};
use castellan_rules::{Options, Part, Plain, RuleSet, Source, load};
use proptest::prelude::*;

static FIELDS: &[FieldDef<'static>] = &[
    text("c.a", Level::Call),
    text("c.b", Level::Call),
    FieldDef { ty: FieldType::U64, ..text("c.n", Level::Call) },
    text("m.a", Level::Command),
    FieldDef { list: true, ..text("m.all", Level::Command) },
    text("e.a", Level::Effect),
    FieldDef { ty: FieldType::Bool, ..text("e.is", Level::Effect) },
];

const TEXTS: [&str; 4] = ["c.a", "c.b", "m.a", "e.a"];

const fn text(name: &'static str, level: Level) -> FieldDef<'static> {
    let (ty, arg) = (FieldType::Text, FieldArg::None);
    FieldDef { name, ty, list: false, level, arg, suggested: false, words: &[], meaning: "" }
}

/// A value of each field, or none. Panics when asked for a field finer than the row.
#[derive(Debug, Clone)]
struct TestRow {
    level: Level,
    texts: Vec<Option<String>>,
    number: Option<u64>,
    list: Vec<String>,
    truth: Option<bool>,
}

impl TestRow {
    fn text(&self, name: &str) -> Option<&str> {
        let at = TEXTS.iter().position(|known| *known == name).unwrap();
        self.texts[at].as_deref()
    }
}

fn bytes(text: &str) -> Value<'_> {
    Value::Text(Cow::Borrowed(text.as_bytes()))
}

impl Row for TestRow {
    fn value(&self, field: usize, _: Option<&str>) -> Value<'_> {
        let def = &FIELDS[field];
        assert!(def.level <= self.level, "{} was asked of a row of a {}", def.name, self.level.as_str());
        match def.name {
            "c.n" => self.number.map_or(Value::Absent, Value::U64),
            "m.all" => Value::List(self.list.iter().map(|one| bytes(one)).collect()),
            "e.is" => self.truth.map_or(Value::Absent, Value::Bool),
            name => self.text(name).map_or(Value::Absent, bytes),
        }
    }

    fn level(&self) -> Level {
        self.level
    }

    /// Parts with equal values are the same.
    fn part(&self, of: Level) -> Option<usize> {
        let mut hasher = DefaultHasher::new();
        match of {
            Level::Call => (&self.texts[..2], self.number).hash(&mut hasher),
            Level::Command => (&self.texts[2], &self.list).hash(&mut hasher),
            Level::Effect => (&self.texts[3], self.truth).hash(&mut hasher),
            Level::Written => return None,
        }
        usize::try_from(hasher.finish() >> 1).ok()
    }
}

/// A condition that this file can evaluate.
#[derive(Debug, Clone)]
enum Tree {
    And(Vec<Tree>),
    Or(Vec<Tree>),
    Not(Box<Tree>),
    Check(&'static str, &'static str, String),
}

impl Tree {
    fn print(&self) -> String {
        let chain = |all: &[Tree], word: &str| all.iter().map(Tree::print).collect::<Vec<_>>().join(word);
        match self {
            Tree::And(all) => format!("({})", chain(all, " and ")),
            Tree::Or(all) => format!("({})", chain(all, " or ")),
            Tree::Not(inner) => format!("not ({})", inner.print()),
            Tree::Check(field, "exists", _) => format!("{field} exists"),
            Tree::Check(field, "in", text) => format!("{field} in (zz, \"{text}\")"),
            Tree::Check(field, op, text) => format!("{field} {op} \"{text}\""),
        }
    }

    /// Evaluates by Kleene's logic; `None` is "unknown".
    fn value(&self, row: &TestRow) -> Option<bool> {
        match self {
            Tree::And(all) => {
                let values: Vec<_> = all.iter().map(|one| one.value(row)).collect();
                if values.contains(&Some(false)) {
                    Some(false)
                } else {
                    values.into_iter().collect::<Option<Vec<_>>>().map(|_| true)
                }
            }
            Tree::Or(all) => {
                let values: Vec<_> = all.iter().map(|one| one.value(row)).collect();
                if values.contains(&Some(true)) {
                    Some(true)
                } else {
                    values.into_iter().collect::<Option<Vec<_>>>().map(|_| false)
                }
            }
            Tree::Not(inner) => inner.value(row).map(|value| !value),
            Tree::Check(field, op, constant) => {
                if level(field) > row.level {
                    return None;
                }
                Some(row.text(field).is_some_and(|text| match *op {
                    "=" => text == constant,
                    "!=" => text != constant,
                    "in" => text == constant || text == "zz",
                    "contains" => text.contains(constant),
                    "startswith" => text.starts_with(constant),
                    "endswith" => text.ends_with(constant),
                    // The only remaining operator.
                    exists => exists == "exists",
                }))
            }
        }
    }

    fn finest(&self) -> Level {
        match self {
            Tree::And(all) | Tree::Or(all) => all.iter().map(Tree::finest).max().unwrap(),
            Tree::Not(inner) => inner.finest(),
            Tree::Check(field, ..) => level(field),
        }
    }
}

fn level(name: &str) -> Level {
    FIELDS.iter().find(|field| field.name == name).unwrap().level
}

fn word() -> impl Strategy<Value = String> {
    "[abA]{1,3}"
}

fn tree() -> impl Strategy<Value = Tree> {
    let ops = prop::sample::select(vec!["=", "!=", "in", "contains", "startswith", "endswith", "exists"]);
    let check = (prop::sample::select(TEXTS.to_vec()), ops, word());
    let check = check.prop_map(|(field, op, text)| Tree::Check(field, op, text));
    check.prop_recursive(4, 16, 3, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 1..4).prop_map(Tree::And),
            prop::collection::vec(inner.clone(), 1..4).prop_map(Tree::Or),
            inner.prop_map(|inner| Tree::Not(Box::new(inner))),
        ]
    })
}

/// Generates conditions with every operator, as text.
fn condition() -> impl Strategy<Value = String> {
    let field = || prop::sample::select(vec!["c.a", "c.b", "m.a", "e.a", "tolower(c.a)", "basename(m.a)"]);
    let others = prop_oneof![
        (field(), prop::sample::select(vec!["glob", "iglob", "icontains"]), "[abA*?]{1,4}")
            .prop_map(|(field, op, text)| format!("{field} {op} \"{text}\"")),
        (field(), "[ab]{1,2}(\\.\\*|[ab]\\+|\\(ab\\|b\\)|\\[ab\\])[ab]{0,2}(\\.\\*)?")
            .prop_map(|(field, text)| format!("{field} regex \"{text}\"")),
        (field(), word(), "[ab*/]{1,4}").prop_map(|(field, a, b)| format!("{field} pmatch (/{a}, \"{b}\")")),
        (field(), word(), word()).prop_map(|(field, a, b)| format!("{field} in ({a}, {b})")),
        (prop::sample::select(vec!["in", "intersects"]), word(), word())
            .prop_map(|(op, a, b)| format!("m.all {op} ({a}, {b})")),
        (prop::sample::select(vec!["=", "<", ">=", "!="]), 0..4u64)
            .prop_map(|(op, n)| format!("c.n {op} {n}")),
        (0..4u64, 0..4u64).prop_map(|(a, b)| format!("c.n in ({a}, {b})")),
        any::<bool>().prop_map(|is| format!("e.is = {is}")),
        (field(), field()).prop_map(|(a, b)| format!(
            "{a} startswith val({})",
            b.trim_start_matches("tolower(").trim_start_matches("basename(").trim_end_matches(')')
        )),
        Just("m.all exists".to_owned()),
        Just("c.a in ()".to_owned()),
        Just("c.b glob *".to_owned()),
        Just("c.b contains \"\"".to_owned()),
        Just("len(m.all) > 1".to_owned()),
    ];
    let leaf = prop_oneof![others, tree().prop_map(|tree| tree.print())];
    leaf.prop_recursive(3, 12, 3, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 2..4).prop_map(|all| format!("({})", all.join(" and "))),
            prop::collection::vec(inner.clone(), 2..4).prop_map(|all| format!("({})", all.join(" or "))),
            inner.prop_map(|inner| format!("not ({inner})")),
        ]
    })
}

fn row() -> impl Strategy<Value = TestRow> {
    let value = || prop_oneof![1 => Just(None), 6 => "[abA/]{0,5}".prop_map(Some)];
    (
        prop::sample::select(Level::ALL.to_vec()),
        prop::collection::vec(value(), TEXTS.len()),
        prop::option::of(0..4u64),
        prop::collection::vec(word(), 0..3),
        prop::option::of(any::<bool>()),
    )
        .prop_map(|(level, texts, number, list, truth)| TestRow { level, texts, number, list, truth })
}

/// Generates rows that share parts with the row before, like rows of one call.
fn rows() -> impl Strategy<Value = Vec<TestRow>> {
    prop::collection::vec((row(), prop::sample::select(vec![0, 2, 2, 3, 4])), 1..12).prop_map(|all| {
        let mut rows: Vec<TestRow> = Vec::new();
        for (mut row, kept) in all {
            if let Some(before) = rows.last() {
                row.texts.splice(..kept, before.texts[..kept].iter().cloned());
                row.number = if kept >= 2 { before.number } else { row.number };
                row.list = if kept >= 3 { before.list.clone() } else { row.list };
                row.truth = if kept >= 4 { before.truth } else { row.truth };
            }
            rows.push(row);
        }
        rows
    })
}

fn set(conditions: &[String]) -> RuleSet {
    let rule = |(number, condition): (usize, &String)| {
        let condition = serde_json::to_string(condition).unwrap();
        format!(
            "- rule: r{number}\n  desc: d\n  condition: {condition}\n  output: \"%c.a %e.a\"\n  priority: INFO\n  source: coding_agent\n"
        )
    };
    let text = conditions.iter().enumerate().map(rule).collect();
    let loaded = load(
        &[Source { name: "r".to_owned(), text }],
        FIELDS,
        &Options { describe: true, ..Options::default() },
    );
    assert!(!loaded.has_errors(), "{conditions:?}: {:?}", loaded.problems);
    loaded.rules
}

fn fires(condition: &str, row: &TestRow) -> bool {
    !set(&[condition.to_owned()]).evaluate(row).is_empty()
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_rule_fires_when_kleenes_logic_says_true(tree in tree(), rows in prop::collection::vec(row(), 1..8)) {
        let rules = set(&[tree.print()]);
        prop_assert_eq!(rules.rules()[0].level, tree.finest());
        for row in rows {
            let expected = row.level <= tree.finest() && tree.value(&row) == Some(true);
            prop_assert_eq!(!rules.evaluate(&row).is_empty(), expected, "{} on {:?}", tree.print(), row);
        }
    }

    #[test]
    fn a_further_alternative_never_loses_a_match(condition in condition(), other in condition(), row in row()) {
        if fires(&condition, &row) {
            prop_assert!(fires(&format!("({condition}) or {other}"), &row), "{} or {}", condition, other);
        }
    }

    #[test]
    fn the_engine_answers_as_the_plain_evaluator(
        conditions in prop::collection::vec(condition(), 1..40), rows in prop::collection::vec(row(), 1..12)
    ) {
        let rules = set(&conditions);
        let plain = Plain::new(&rules).map_err(|error| TestCaseError::fail(error.to_string()))?;
        for row in rows {
            prop_assert_eq!(rules.evaluate(&row), plain.evaluate(&row), "{:?}", row);
        }
    }

    #[test]
    fn rows_of_one_call_are_judged_as_each_by_itself(
        conditions in prop::collection::vec(condition(), 1..40), rows in rows()
    ) {
        let rules = set(&conditions);
        let plain = Plain::new(&rules).map_err(|error| TestCaseError::fail(error.to_string()))?;
        let mut expected: BTreeMap<usize, (String, Vec<usize>)> = BTreeMap::new();
        for (position, row) in rows.iter().enumerate() {
            for hit in plain.evaluate(row) {
                expected.entry(hit.rule).or_insert((hit.message, Vec::new())).1.push(position);
            }
        }
        let found = rules.evaluate_rows(&rows, |_| Part::In).into_iter();
        let found: BTreeMap<_, _> = found.map(|all| (all.hit.rule, (all.hit.message, all.rows))).collect();
        prop_assert_eq!(found, expected);
    }
}

#[test]
fn a_set_is_shared_by_threads() {
    fn check<T: Send + Sync>() {}
    check::<RuleSet>();
}

#[test]
fn finer_fields_are_unknown_and_absent_ones_fail() {
    let row = |level| TestRow {
        level,
        texts: vec![Some("a".to_owned()), None, None, None],
        number: None,
        list: vec![],
        truth: None,
    };
    for (condition, on) in [
        ("c.a = a", [true, false, false]),
        ("c.b = a", [false, false, false]),
        ("c.a contains ''", [true, false, false]),
        ("c.b contains ''", [false, false, false]),
        ("not c.b startswith ''", [true, false, false]),
        ("not c.b = a", [true, false, false]),
        ("c.a = a or e.a = x", [true, true, true]),
        ("c.a = a and not e.a = x", [false, false, true]),
        ("not (c.a = a and e.a = x)", [false, false, true]),
        ("not (c.a = b and e.a = x)", [true, true, true]),
        ("not e.a exists", [false, false, true]),
        ("not e.a in ()", [false, false, true]),
        ("c.a = a and not m.a startswith val(e.a)", [false, false, true]),
        ("not m.all in (x)", [false, true, false]),
    ] {
        for (level, expected) in Level::ALL.into_iter().zip(on) {
            assert_eq!(fires(condition, &row(level)), expected, "{condition} on a {}", level.as_str());
        }
    }
}

#[test]
fn a_message_is_cut_and_a_value_that_makes_it_longer_too() {
    let row = |len: usize| TestRow {
        level: Level::Call,
        texts: vec![Some("é".repeat(len)), None, None, None],
        number: None,
        list: vec![],
        truth: None,
    };
    let rules = |output: &str| {
        let text = format!(
            "- rule: r\n  desc: d\n  condition: c.a exists\n  output: \"{output}\"\n  priority: INFO\n  source: coding_agent\n"
        );
        load(&[Source { name: "r".to_owned(), text }], FIELDS, &Options::default()).rules
    };
    for (output, len, expected) in [
        ("%c.a", 16 << 10, "é".repeat(16 << 10)),
        ("%c.a", (16 << 10) + 1, "é".repeat(16 << 10) + "…"),
        ("x%c.a", 4 << 20, format!("x{}…", "é".repeat((16 << 10) - 1))),
        ("%c.a%c.a%c.a", 10 << 10, "é".repeat(16 << 10) + "…"),
    ] {
        let hits = rules(output).evaluate(&row(len));
        assert_eq!(
            hits.first().map(|hit| hit.message.as_str()),
            Some(expected.as_str()),
            "{output} of {len}"
        );
    }
}
