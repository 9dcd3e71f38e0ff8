//! Tests of the load options: additions to outputs, selection of rules, and the levels of rules.

use castellan_event::{Level, Value};
use castellan_rules::{
    AppendOutput, ExtraField, Loaded, Options, Priority, Selected, Selection, Source, load,
};
use serde_json::{Value as Json, json};

use crate::catalogue::{FIELDS, JsonRow, json_of};

fn rule(name: &str, more: &str) -> String {
    let priority = if more.contains("priority:") { "" } else { "priority: INFO, " };
    format!(
        "- {{rule: {name}, desc: d, condition: tool.name = Bash, output: hi, {priority}source: coding_agent{more}}}\n"
    )
}

fn load_text(text: &str, options: &Options) -> Loaded {
    load(&[Source { name: "r".to_owned(), text: text.to_owned() }], FIELDS, options)
}

fn entry() -> AppendOutput {
    AppendOutput::default()
}

fn format(name: &str, format: &str) -> ExtraField {
    ExtraField::Format { name: name.to_owned(), format: format.to_owned() }
}

#[test]
fn append_output_reaches_the_rules_that_it_matches() {
    let text = rule("one", "") + &rule("two", ", tags: [a, b]");
    let event =
        json!({"tool.name": "Bash", "correlation.id": 7, "test.strs": ["x", "y"], "test.kv": {"k": "v"}});
    let nothing = json!({});
    let some = |text: &str| Some(text.to_owned());
    let tags = |tags: &[&str]| tags.iter().map(|tag| (*tag).to_owned()).collect();
    let extra = |of: AppendOutput| AppendOutput { extra_output: some("n=%tool.name"), ..of };
    let none: fn() -> Json = || json!({});
    for (entries, one, two, fields) in [
        (vec![], "hi", "hi", none()),
        (vec![entry()], "hi", "hi", none()),
        (vec![extra(entry())], "hi n=Bash", "hi n=Bash", json!({"tool.name": "Bash"})),
        (
            vec![extra(AppendOutput { rule: some("two"), ..entry() })],
            "hi",
            "hi n=Bash",
            json!({"tool.name": "Bash"}),
        ),
        (vec![extra(AppendOutput { rule: some("tw"), ..entry() })], "hi", "hi", none()),
        (
            vec![extra(AppendOutput { tags: tags(&["b", "a"]), ..entry() })],
            "hi",
            "hi n=Bash",
            json!({"tool.name": "Bash"}),
        ),
        (vec![extra(AppendOutput { tags: tags(&["a", "c"]), ..entry() })], "hi", "hi", none()),
        (
            vec![extra(AppendOutput { source: some("coding_agent"), ..entry() })],
            "hi n=Bash",
            "hi n=Bash",
            json!({"tool.name": "Bash"}),
        ),
        // An entry for another source is not compiled.
        (
            vec![AppendOutput { source: some("syscall"), extra_output: some("%proc.name"), ..entry() }],
            "hi",
            "hi",
            none(),
        ),
        (
            vec![AppendOutput { suggested_output: true, ..extra(entry()) }],
            "hi n=Bash correlation_id=7",
            "hi n=Bash correlation_id=7",
            json!({"correlation.id": 7, "tool.name": "Bash"}),
        ),
        (
            vec![
                AppendOutput { rule: some("two"), extra_output: some("1"), ..entry() },
                AppendOutput { tags: tags(&["a"]), extra_output: some("2 %test.num"), ..entry() },
            ],
            "hi",
            "hi 1 2 <NA>",
            json!({"test.num": null}),
        ),
    ] {
        let options = Options { append_output: entries, ..Options::default() };
        check_fields(&rule("one", ""), &options, &event, one, if one == "hi" { &nothing } else { &fields });
        check_fields(&text, &options, &event, two, &fields);
    }
}

#[test]
fn extra_fields_are_among_the_output_fields() {
    let extra_fields = vec![
        ExtraField::Field("test.strs".to_owned()),
        ExtraField::Field("test.num".to_owned()),
        ExtraField::Field("test.kv[k]".to_owned()),
        format("text", "*%test.strs-%toupper(tool.name)"),
        format("test.kv[k]", "k"),
    ];
    let options =
        Options { append_output: vec![AppendOutput { extra_fields, ..entry() }], ..Options::default() };
    let event = json!({"tool.name": "Bash", "test.strs": ["x", "y"], "test.kv": {"k": "v"}});
    let expected = json!({
        "correlation.id": null,
        "test.kv[k]": "k",
        "test.num": null,
        "test.strs": ["x", "y"],
        "text": "(x,y)-BASH",
    });
    let text = rule("r", "").replace("output: hi", "output: 'hi %correlation.id'");
    check_fields(&text, &options, &event, "hi <NA>", &expected);
}

/// Compares the message and the output fields of the last rule.
fn check_fields(text: &str, options: &Options, event: &Json, message: &str, expected: &Json) {
    let loaded = load_text(text, options);
    assert!(loaded.problems.is_empty(), "{options:?}: {:?}", loaded.problems);
    let row = JsonRow(event);
    let hit = loaded.rules.evaluate(&row).pop().unwrap();
    assert_eq!(hit.message, message, "{:?}", options.append_output);
    let found = loaded.rules.output_fields(&row, hit.rule);
    assert!(found.is_sorted_by(|one, two| one.0 < two.0));
    let found: Json = found.into_iter().map(|(key, value)| (key, json_of(&value))).collect();
    assert_eq!(found, *expected, "{:?}", options.append_output);
}

#[test]
fn problems_of_append_output_are_errors_even_if_no_rule_matches() {
    let some = |text: &str| Some(text.to_owned());
    for (broken, expected) in [
        (
            AppendOutput { extra_output: some("%tool.nam"), ..entry() },
            "append_output[1]:1:1: LOAD_ERR_COMPILE_OUTPUT: `%tool.nam` is not a field (did you mean `tool.name`?)",
        ),
        (
            AppendOutput { rule: some("nothing"), extra_fields: vec![format("x", "50%")], ..entry() },
            "append_output[1]:1:1: LOAD_ERR_COMPILE_OUTPUT: an output cannot end in `%` (an output cannot have a percent sign: write `percent`)",
        ),
        (
            AppendOutput { extra_fields: vec![ExtraField::Field("tool.nam".to_owned())], ..entry() },
            "append_output[1]:1:1: LOAD_ERR_COMPILE_OUTPUT: there is no field `tool.nam` (did you mean `tool.name`?)",
        ),
        (
            AppendOutput { extra_fields: vec![ExtraField::Field("len(tool.name)".to_owned())], ..entry() },
            "append_output[1]:1:1: LOAD_ERR_COMPILE_OUTPUT: `len(tool.name)` is not a field (give a format a name: `name: \"%len(tool.name)\"`)",
        ),
    ] {
        let options = Options { append_output: vec![entry(), broken], ..Options::default() };
        let loaded = load_text(&rule("r", ""), &options);
        assert!(loaded.has_errors());
        let lines: Vec<_> = loaded.problems.iter().map(|problem| problem.one_line()).collect();
        assert_eq!(lines, [expected]);
        assert!(loaded.problems[0].render(None).contains("append_output[1]:1:1"));
    }
}

#[test]
fn a_list_in_an_output_is_cut_where_falco_cuts_it() {
    let text = rule("r", "").replace("output: hi", "output: '%test.strs'");
    let loaded = load_text(&text, &Options::default());
    for (elements, of, len) in
        [(2, 510, 1_023), (2, 511, 1_023), (2, 512, 1_023), (1, 1_021, 1_023), (1, 1_022, 1_023), (1, 9, 11)]
    {
        let event = json!({"tool.name": "Bash", "test.strs": vec!["x".repeat(of); elements]});
        let message = loaded.rules.evaluate(&JsonRow(&event)).remove(0).message;
        assert_eq!(message.len(), len, "{elements} of {of}");
        let whole = elements * (of + 1) < len;
        assert_eq!(message.ends_with(')'), whole, "{elements} of {of}");
    }
    let event = json!({"tool.name": "Bash", "test.strs": ["x".repeat(2_000)]});
    let row = JsonRow(&event);
    let fields = load_text(&text, &Options::default());
    let fields = fields.rules.output_fields(&row, 0);
    assert!(
        matches!(&fields[0].1, Value::List(all) if all[0] == Value::Text("x".repeat(2_000).into_bytes().into()))
    );
}

/// Loads rules with these options, and compares the remaining rules; a disabled rule begins with `-`.
fn check_rules(text: &str, options: &Options, expected: &[&str]) {
    let loaded = load_text(text, options);
    let rules = loaded.rules.rules().iter();
    let found: Vec<_> =
        rules.map(|rule| format!("{}{}", if rule.enabled { "" } else { "-" }, rule.name)).collect();
    assert_eq!(found, expected, "{options:?}");
}

#[test]
fn rules_below_the_priority_are_dropped() {
    let other = rule("other", ", priority: DEBUG").replace("source: coding_agent", "source: syscall");
    let text = rule("debug", ", priority: DEBUG")
        + &rule("notice", ", priority: notice")
        + &rule("alert", ", priority: ALERT");
    for (priority, expected) in [
        (Priority::Debug, &["debug", "notice", "alert"][..]),
        (Priority::Informational, &["notice", "alert"]),
        (Priority::Notice, &["notice", "alert"]),
        (Priority::Warning, &["alert"]),
        (Priority::Emergency, &[]),
    ] {
        check_rules(&text, &Options { priority, ..Options::default() }, expected);
    }
    // A dropped rule is still checked, and so is a rule of another source.
    let options = Options { priority: Priority::Alert, ..Options::default() };
    let broken = rule("debug", ", priority: DEBUG").replace("tool.name = Bash", "tool.nam = Bash");
    for text in [&broken, &other] {
        let loaded = load_text(text, &options);
        let codes: Vec<_> = loaded.problems.iter().map(|problem| problem.code).collect();
        assert_eq!(codes, ["LOAD_ERR_COMPILE_CONDITION"], "{text}");
    }
    // A macro that only a dropped rule uses is used.
    let text = "- {macro: m, condition: tool.name = Bash}\n".to_owned()
        + &rule("debug", ", priority: DEBUG").replace("tool.name = Bash", "m");
    assert!(load_text(&text, &options).problems.is_empty());
}

#[test]
fn selections_apply_in_order() {
    let text = rule("read one", ", tags: [a]")
        + &rule("read two", ", tags: [a, b]")
        + &rule("write", ", enabled: false");
    let rules = |enable, pattern: &str| Selection { enable, of: Selected::Rule(pattern.to_owned()) };
    let tag = |enable, tag: &str| Selection { enable, of: Selected::Tag(tag.to_owned()) };
    for (selection, expected) in [
        (vec![], ["read one", "read two", "-write"]),
        (vec![rules(true, "write")], ["read one", "read two", "write"]),
        (vec![rules(false, "*")], ["-read one", "-read two", "-write"]),
        (vec![rules(false, "read")], ["read one", "read two", "-write"]),
        (vec![rules(false, "read*")], ["-read one", "-read two", "-write"]),
        (vec![rules(false, "*"), rules(true, "*o*e")], ["read one", "-read two", "-write"]),
        (vec![rules(true, "*o*e"), rules(false, "*")], ["-read one", "-read two", "-write"]),
        (vec![tag(false, "a")], ["-read one", "-read two", "-write"]),
        (vec![tag(false, "a"), tag(true, "b")], ["-read one", "read two", "-write"]),
        (vec![tag(false, "*")], ["read one", "read two", "-write"]),
    ] {
        check_rules(&text, &Options { selection, ..Options::default() }, &expected);
    }
    // A disabled rule does not match.
    let options = Options { selection: vec![rules(false, "read one")], ..Options::default() };
    let loaded = load_text(&text, &options);
    let event = json!({"tool.name": "Bash"});
    let hits: Vec<_> = loaded.rules.evaluate(&JsonRow(&event)).iter().map(|hit| hit.rule).collect();
    assert_eq!(hits, [1]);
}

#[test]
fn a_rule_is_as_fine_as_its_finest_field() {
    let with = |condition: &str| rule("r", "").replace("tool.name = Bash", condition);
    let mixed = with("tool.name = Bash or test.command = x");
    let level = |text: &str| load_text(text, &Options::default()).rules.rules()[0].level;
    assert_eq!((level(&mixed), level(&with("tool.name = Bash"))), (Level::Command, Level::Call));
}

#[test]
fn a_rule_is_described() {
    let text = "
- {list: l, items: [x, inner]}
- {list: inner, items: ['a b']}
- {macro: m, condition: test.str in (l)}
- {macro: unused, condition: test.num > 1}
- rule: r
  desc: d
  condition: m and not tolower(test.str2) startswith val(test.kv[k]) and test.strs in (inner)
  output: '%test.num %toupper(tool.name)'
  priority: INFO
  source: coding_agent
  exceptions:
    - {name: two, fields: [test.num, tool.name], comps: [=, in], values: [[1, [y]]]}
    - {name: one, fields: tool.name}
";
    let loaded = load_text(text, &Options { describe: true, ..Options::default() });
    let description = loaded.description.unwrap();
    let rule = &description.rules[0];
    let condition = "m and not tolower(test.str2) startswith val(test.kv[k]) and test.strs in (inner)";
    assert_eq!(rule.condition, condition);
    assert_eq!(
        rule.reparsable,
        "((test.str in (x, \"a b\") and not tolower(test.str2) startswith val(test.kv[k]) and test.strs in (\"a b\")) and \
         not (test.num = 1 and tool.name in (y)))"
    );
    for (found, expected) in [
        (&rule.macros, "m"),
        (&rule.lists, "inner"),
        (&rule.operators, "= in startswith"),
        (&rule.condition_fields, "test.kv[k] test.num test.str test.str2 test.strs tool.name"),
        (&rule.output_fields, "test.num tool.name"),
        (&rule.exceptions, "one two"),
        (&rule.exception_operators, "= in"),
        (&rule.exception_fields, "test.num tool.name"),
    ] {
        assert_eq!(found.join(" "), expected);
    }
    let macros: Vec<_> = description.macros.iter().map(|found| (&*found.name, &*found.compiled)).collect();
    assert_eq!(macros, [("m", "test.str in (x, \"a b\")"), ("unused", "test.num > 1")]);
    let lists: Vec<_> = description.lists.iter().map(|found| found.items.join(", ")).collect();
    // The first list does not see the second list, which is still substituted in the conditions after it.
    assert_eq!(lists, ["x, inner", "\"a b\""]);
    assert!(load_text(text, &Options::default()).description.is_none());
}
