//! Tests of conditions exported to a real Falco: their text and their results. Two-valued logic on them must give the
//! results of Kleene's logic on the originals, on rows of every level.

use castellan_event::{FieldArg, FieldDef, FieldType, Level, Row, Value};
use castellan_rules::{Loaded, Options, Source, load};
use proptest::prelude::*;

const FIELDS: [FieldDef<'static>; 8] = [
    field("row.level", Level::Call),
    field("c.x", Level::Call),
    field("c.y", Level::Call),
    field("m.x", Level::Command),
    field("m.y", Level::Command),
    field("e.x", Level::Effect),
    field("e.y", Level::Effect),
    field("w.x", Level::Written),
];

const fn field(name: &'static str, level: Level) -> FieldDef<'static> {
    let (ty, arg) = (FieldType::Text, FieldArg::None);
    FieldDef { name, ty, list: false, level, arg, suggested: false, words: &[], meaning: "" }
}

fn load_condition(condition: &str, fields: &[FieldDef<'_>]) -> Loaded {
    let condition = serde_json::to_string(condition).unwrap();
    let rest = "output: o, priority: INFO, source: coding_agent";
    let text = format!("- {{rule: r, desc: d, condition: {condition}, {rest}}}");
    let options = Options { describe: true, ..Options::default() };
    let loaded = load(&[Source { name: "r".to_owned(), text }], fields, &options);
    assert!(loaded.problems.is_empty(), "{condition}: {:?}", loaded.problems);
    loaded
}

fn exported(condition: &str, fields: &[FieldDef<'_>]) -> (String, Level) {
    let description = load_condition(condition, fields).description.unwrap();
    (description.rules[0].exported.clone(), description.rules[0].level)
}

#[test]
fn literals_are_guarded_by_the_level_of_their_rows() {
    for (condition, expected) in [
        ("c.x = a", "(row.level = call and c.x = a)"),
        ("not c.x = a", "(row.level = call and not c.x = a)"),
        ("m.x = a", "(row.level in (call, command) and (row.level in (command, effect) and m.x = a))"),
        ("e.x = a", "(row.level = effect and e.x = a)"),
        ("not e.x startswith /x", "(row.level = effect and not e.x startswith /x)"),
        ("c.x = a or e.x = a", "(c.x = a or (row.level = effect and e.x = a))"),
        (
            "not (c.x = a and not (m.x = b or c.y = val(e.y)))",
            "(not c.x = a or ((row.level in (command, effect) and m.x = b) or (row.level = effect and c.y = val(e.y))))",
        ),
        ("not (not c.x = '')", "(row.level = call and c.x = \"\")"),
    ] {
        assert_eq!(exported(condition, &FIELDS[..7]).0, expected, "{condition}");
    }
    // Rows of a written file belong to no other level.
    for (condition, expected) in [
        ("c.x = a", "(row.level = call and c.x = a)"),
        (
            "e.x = a",
            "(row.level in (call, command, effect) and (row.level in (effect, written) and e.x = a))",
        ),
        (
            "e.x = a and w.x = b",
            "((row.level in (effect, written) and e.x = a) and (row.level = written and w.x = b))",
        ),
    ] {
        assert_eq!(exported(condition, &FIELDS).0, expected, "{condition}");
    }
}

#[test]
fn a_table_without_levels_needs_no_guards() {
    let description = load_condition("not (c.x = a or c.y = 'a b')", &FIELDS[1..3]).description.unwrap();
    assert_eq!(description.rules[0].exported, "not (c.x = a or c.y = \"a b\")");
}

/// A condition over fields 1 to 7, whose values are `a`, `b`, or absent.
#[derive(Debug, Clone)]
enum Condition {
    Equal(usize, &'static str),
    NotEqual(usize, &'static str),
    Exists(usize),
    Fields(usize, usize),
    Not(Box<Condition>),
    And(Vec<Condition>),
    Or(Vec<Condition>),
}

impl Condition {
    fn text(&self) -> String {
        let name = |field: &usize| FIELDS[*field].name;
        let all = |all: &[Self], word: &str| {
            format!("({})", all.iter().map(Self::text).collect::<Vec<_>>().join(word))
        };
        match self {
            Self::Equal(field, value) => format!("{} = {value}", name(field)),
            Self::NotEqual(field, value) => format!("{} != {value}", name(field)),
            Self::Exists(field) => format!("{} exists", name(field)),
            Self::Fields(left, right) => format!("{} = val({})", name(left), name(right)),
            Self::Not(inner) => format!("not ({})", inner.text()),
            Self::And(inner) => all(inner, " and "),
            Self::Or(inner) => all(inner, " or "),
        }
    }

    fn level(&self) -> Level {
        let of = |field: &usize| FIELDS[*field].level;
        match self {
            Self::Equal(field, _) | Self::NotEqual(field, _) | Self::Exists(field) => of(field),
            Self::Fields(left, right) => of(left).max(of(right)),
            Self::Not(inner) => inner.level(),
            Self::And(all) | Self::Or(all) => all.iter().map(Self::level).max().unwrap(),
        }
    }

    /// Evaluates by Kleene's logic; `None` is "unknown".
    fn holds(&self, row: &TestRow) -> Option<bool> {
        let value = |field: &usize| row.values[*field];
        let known = |holds: bool| (self.level() <= row.level).then_some(holds);
        match self {
            Self::Equal(field, constant) => known(value(field) == Some(constant)),
            Self::NotEqual(field, constant) => known(value(field).is_some_and(|value| value != *constant)),
            Self::Exists(field) => known(value(field).is_some()),
            Self::Fields(left, right) => known(value(left).is_some() && value(left) == value(right)),
            Self::Not(inner) => inner.holds(row).map(|holds| !holds),
            Self::And(all) => {
                let one_is_not = all.iter().any(|one| one.holds(row) == Some(false));
                if one_is_not {
                    Some(false)
                } else {
                    all.iter().all(|one| one.holds(row) == Some(true)).then_some(true)
                }
            }
            Self::Or(all) => {
                let one_is = all.iter().any(|one| one.holds(row) == Some(true));
                if one_is {
                    Some(true)
                } else {
                    all.iter().all(|one| one.holds(row) == Some(false)).then_some(false)
                }
            }
        }
    }
}

/// A row that has values for finer fields too, so that only the guards exclude them.
#[derive(Debug)]
struct TestRow {
    level: Level,
    values: [Option<&'static str>; 8],
}

impl Row for TestRow {
    fn value(&self, field: usize, _: Option<&str>) -> Value<'_> {
        let value = if field == 0 { Some(self.level.as_str()) } else { self.values[field] };
        value.map_or(Value::Absent, |value| Value::Text(value.as_bytes().into()))
    }
}

fn condition() -> impl Strategy<Value = Condition> {
    let value = prop_oneof![Just("a"), Just("b")];
    let check = prop_oneof![
        (1..8usize, value.clone()).prop_map(|(field, value)| Condition::Equal(field, value)),
        (1..8usize, value).prop_map(|(field, value)| Condition::NotEqual(field, value)),
        (1..8usize).prop_map(Condition::Exists),
        (1..8usize, 1..8usize).prop_map(|(left, right)| Condition::Fields(left, right)),
    ];
    check.prop_recursive(4, 16, 3, |inner| {
        prop_oneof![
            inner.clone().prop_map(|inner| Condition::Not(Box::new(inner))),
            prop::collection::vec(inner.clone(), 2..4).prop_map(Condition::And),
            prop::collection::vec(inner, 2..4).prop_map(Condition::Or),
        ]
    })
}

fn row() -> impl Strategy<Value = TestRow> {
    let value = prop_oneof![Just(None), Just(Some("a")), Just(Some("b"))];
    (0..4usize, prop::array::uniform8(value))
        .prop_map(|(level, values)| TestRow { level: Level::ALL[level], values })
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn two_valued_logic_agrees_with_kleenes(condition in condition(), rows in prop::collection::vec(row(), 20)) {
        let (text, level) = exported(&condition.text(), &FIELDS);
        prop_assert_eq!(level, condition.level());
        let flat = FIELDS.map(|field| FieldDef { level: Level::Call, ..field });
        let rules = load_condition(&text, &flat).rules;
        for row in rows {
            let expected = row.level <= level && condition.holds(&row) == Some(true);
            prop_assert_eq!(!rules.evaluate(&row).is_empty(), expected, "{} {:?}", &text, row);
        }
    }
}
