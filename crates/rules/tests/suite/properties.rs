//! Properties of every rule file: loading ends without a panic, and a printed condition keeps its meaning.

use castellan_event::FIELDS;
use castellan_rules::{Engine, Loaded, Options, Source, load};
use proptest::prelude::*;

use crate::catalogue;

fn load_text(text: String) -> Loaded {
    load(&[Source { name: "rules.yaml".to_owned(), text }], FIELDS, &Options::default())
}

/// Returns the reparsable print of a condition, or its problems.
fn printed(condition: &str) -> Result<String, String> {
    let quoted = serde_json::to_string(condition).unwrap();
    let text = format!(
        "- rule: r\n  desc: d\n  condition: {quoted}\n  output: o\n  priority: INFO\n  source: coding_agent\n"
    );
    let options = Options { engine: Engine::V0_44, describe: true, ..Options::default() };
    let loaded = load(&[Source { name: "r".to_owned(), text }], catalogue::FIELDS, &options);
    match loaded.description.iter().flat_map(|description| &description.rules).next() {
        Some(rule) if !loaded.has_errors() => Ok(rule.reparsable.clone()),
        _ => Err(format!("{condition}: {:?}", loaded.problems)),
    }
}

fn constant() -> impl Strategy<Value = String> {
    prop_oneof![
        "[a-z/.*]{1,5}",
        "[a-z ]{1,5}".prop_map(|text| format!("\"{text}\"")),
        "[a-z(),=\"]{1,5}".prop_map(|text| format!("'{text}'")),
        Just("\"a\\\\b\\n\"".to_owned()),
        Just("\"ends in \\ \"".to_owned()),
        Just("\"\"".to_owned()),
        Just("anyof".to_owned()),
        Just("a\\".to_owned()),
    ]
}

fn check() -> impl Strategy<Value = String> {
    let field = prop_oneof![
        Just("test.str"),
        Just("tool.name"),
        Just("tolower(test.str2)"),
        Just("test.kv[k]"),
        Just("test.kv['a\"b']"),
        Just("test.kv[\"\"]"),
        Just("join(', ', test.strs)"),
        Just("concat(test.str, a, tool.name)"),
        Just("getopt((a, '-b'), \"ab:\")[b]"),
    ];
    let op = prop_oneof![
        Just("="),
        Just("!="),
        Just("contains"),
        Just("startswith"),
        Just("glob"),
        Just("endswith")
    ];
    let modifier = prop_oneof![Just("anyof"), Just("allof"), Just("oneof")];
    let set = prop_oneof![Just("in"), Just("intersects"), Just("pmatch")];
    prop_oneof![
        (field.clone(), op.clone(), constant()).prop_map(|(field, op, text)| format!("{field} {op} {text}")),
        (field.clone(), op.clone(), modifier, prop::collection::vec(constant(), 0..4))
            .prop_map(|(field, op, modifier, all)| format!("{field} {op} {modifier} ({})", all.join(", "))),
        (field, set, prop::collection::vec(constant(), 0..4))
            .prop_map(|(field, op, all)| format!("{field} {op} ({})", all.join(", "))),
        Just("test.num > 5".to_owned()),
        Just("test.strs exists".to_owned()),
        Just("test.str startswith val(test.str2)".to_owned()),
    ]
}

fn condition() -> impl Strategy<Value = String> {
    check().prop_recursive(4, 24, 3, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 2..4).prop_map(|all| format!("({})", all.join(" and "))),
            prop::collection::vec(inner.clone(), 2..4).prop_map(|all| format!("({})", all.join(" or "))),
            inner.clone().prop_map(|inner| format!("not {inner}")),
            inner.prop_map(|inner| format!("not({inner})")),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_text_loads_or_fails(text in any::<String>()) {
        load_text(text);
    }

    #[test]
    fn any_rule_like_text_loads_or_fails(
        words in prop::collection::vec(
            prop_oneof![
                Just("- rule: r\n"), Just("- macro: m\n"), Just("- list: l\n"), Just("  condition: "), Just("  items: "),
                Just("  output: "), Just("  desc: d\n"), Just("  priority: INFO\n"), Just("  source: coding_agent\n"),
                Just("  append: true\n"), Just("  override: {condition: append}\n"), Just("  exceptions: "), Just("[m, l]\n"),
                Just("{name: e, fields: [tool.name], values: [[x]]}\n"), Just("tool.name"), Just(" = "), Just(" in (l"),
                Just(")"), Just(" not("), Just(" or "), Just("\"\\"), Just("'"), Just("%tool.name[é%"), Just("\n"), Just("m"),
            ],
            0..40,
        )
    ) {
        let loaded = load_text(words.concat());
        for problem in &loaded.problems {
            prop_assert!(problem.line >= 1 && problem.column >= 1);
            problem.render(Some(&words.concat()));
        }
    }

    #[test]
    fn any_condition_loads_or_fails(condition in any::<String>()) {
        let _ = printed(&condition);
    }

    #[test]
    fn the_print_of_a_condition_prints_as_itself(condition in condition()) {
        let once = printed(&condition).map_err(TestCaseError::fail)?;
        let again = printed(&once).map_err(TestCaseError::fail)?;
        prop_assert_eq!(once, again);
    }
}

#[test]
fn nesting_is_an_error_with_a_place() {
    for (open, close) in [("(", ")"), ("not(", ")"), ("tolower(", ")")] {
        let condition = format!("{}test.str = a{}", open.repeat(20_000), close.repeat(20_000));
        let problems = printed(&condition).unwrap_err();
        assert!(problems.contains("levels of nesting"), "{open}");
    }
}

#[test]
fn macros_that_grow_are_an_error() {
    let doubling: String =
        (1..40).map(|i| format!("- macro: m{i}\n  condition: m{} and m{}\n", i - 1, i - 1)).collect();
    let nesting: String =
        (1..1000).map(|i| format!("- macro: m{i}\n  condition: not m{}\n", i - 1)).collect();
    // Redefined in reverse, so that each is expanded again and again.
    let reverse: String =
        (0..40).rev().map(|i| format!("- macro: m{i}\n  condition: m{} and m{}\n", i + 1, i + 1)).collect();
    let plain: String = (0..41).map(|i| format!("- macro: m{i}\n  condition: tool.name = x\n")).collect();
    for (macros, last) in [(&doubling, "m39"), (&nesting, "m999"), (&format!("{plain}{reverse}"), "m0")] {
        let rule = format!(
            "- rule: r\n  desc: d\n  condition: {last}\n  output: o\n  priority: INFO\n  source: coding_agent\n"
        );
        let loaded = load_text(format!("- macro: m0\n  condition: tool.name = x\n{macros}{rule}"));
        let codes: Vec<_> = loaded.problems.iter().map(|problem| problem.code).collect();
        assert!(codes.contains(&"CASTELLAN_LIMIT"), "{last}: {codes:?}");
    }
}

#[test]
fn a_nul_and_bad_utf8_hide_nothing() {
    struct Bytes;
    impl castellan_event::Row for Bytes {
        fn value(&self, _: usize, _: Option<&str>) -> castellan_event::Value<'_> {
            castellan_event::Value::Text(b"\xffrm -rf / \0#".as_slice().into())
        }
    }
    for condition in
        ["contains \"rm -rf\"", "endswith \"#\"", "regex \".*rm -rf.*\"", "glob \"*rm*\"", "exists"]
    {
        let condition = serde_json::to_string(&format!("tool.input_command {condition}")).unwrap();
        let rest = "  output: \"%tool.input_command\"\n  priority: INFO\n  source: coding_agent\n";
        let loaded = load_text(format!("- rule: r\n  desc: d\n  condition: {condition}\n{rest}"));
        let hits = loaded.rules.evaluate(&Bytes);
        assert_eq!(hits.len(), 1, "{condition}");
        assert_eq!(hits[0].message, "\u{fffd}rm -rf / \0#");
    }
}

#[test]
fn hostile_files_end_in_an_error() {
    let rule = |condition: &str| {
        format!(
            "- rule: r\n  desc: d\n  condition: {condition}\n  output: o\n  priority: INFO\n  source: coding_agent\n"
        )
    };
    let big = "x".repeat(100_000);
    let many = |line: &str| line.repeat(20_000);
    for (name, text) in [
        ("too large", format!("# {}\n", "x".repeat(9 << 20))),
        ("a list that grows", {
            let items = format!("- list: l\n  items: [{}]\n", many("abcdefghij, "));
            format!("{items}{}", rule(&format!("tool.name in ({} x)", "l, ".repeat(1_000))))
        }),
        ("percent signs", rule("tool.name = x").replace("output: o", &format!("output: '{}'", many("%")))),
        (
            "unknown names",
            (0..20_000)
                .map(|i| rule(&format!("macro_{i}")).replace("rule: r", &format!("rule: r{i}")))
                .collect(),
        ),
        ("long words", rule(&format!("{big} {big}"))),
        ("exceptions that grow", {
            let exceptions = format!(
                "  exceptions:\n  - name: &n {big}\n    fields: [*n]\n    comps: [=]\n    values: [{}]\n",
                "[x], ".repeat(1_000)
            );
            format!("{}{exceptions}", rule("tool.name = x"))
        }),
        ("brackets", rule(&format!("'tool.name = x{}'", many("[")))),
        ("carriage", many("- \u{85}\r")),
    ] {
        let loaded = load_text(text.clone());
        assert!(loaded.has_errors(), "{name}");
        for problem in &loaded.problems {
            assert!(problem.render(Some(&text)).len() < 100_000, "{name}");
        }
    }
}
