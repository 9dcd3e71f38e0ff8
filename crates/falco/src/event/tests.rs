//! Tests of events: validity, rows and alerts.

use castellan_rules::{Loaded, Options, Source, load};
use serde_json::json;

use super::*;
use crate::table::TableText;
use crate::{EventSource, alert};

const TABLE: &str = r#"{"version":1,"source":"s","fields":[
    {"name":"c.name","type":"string"},
    {"name":"c.num","type":"uint64"},
    {"name":"c.truth","type":"bool"},
    {"name":"c.ip","type":"ipaddr"},
    {"name":"c.net","type":"ipnet"},
    {"name":"c.all","type":"string","list":true},
    {"name":"c.at","type":"string","argument":"index","of":"c.all"},
    {"name":"c.nth","type":"uint64","argument":"index"},
    {"name":"c.key","type":"string","argument":"key"},
    {"name":"c.may","type":"string","argument":"optional"},
    {"name":"m.name","type":"string","level":"command"},
    {"name":"x.kind","type":"string","level":"effect"}]}"#;

fn table() -> FieldTable {
    FieldTable::read(&[TableText { name: "t", text: TABLE }]).unwrap()
}

fn stamp() -> Stamp {
    Stamp {
        unix_ns: 1_700_000_000_123_456_789,
        rfc3339: "2023-11-14T22:13:20.123456789Z".to_owned(),
        hostname: "host".to_owned(),
    }
}

/// Loads rules; each rule has its condition as its name.
fn rules(conditions: &[&str], matching: Matching) -> Loaded {
    let rule = |condition: &&str| {
        let rest = "output: \"%c.name|%m.name\"\n  priority: WARNING\n  source: s\n  tags: [b, a]\n";
        format!("- rule: {condition:?}\n  desc: d\n  condition: {condition:?}\n  {rest}")
    };
    let text: String = conditions.iter().map(rule).collect();
    let options = Options { source: "s".to_owned(), matching, ..Options::default() };
    let loaded = load(&[Source { name: "r".to_owned(), text }], &table().fields(), &options);
    assert!(!loaded.has_errors(), "{:?}", loaded.problems);
    loaded
}

#[test]
fn values_are_where_the_table_says() {
    let event = json!({
        "c.name": "bob", "c.num": 7, "c.truth": true, "c.ip": "10.0.0.1", "c.net": "10.0.0.0/8",
        "c.all": ["a", "b"], "c.nth": [5, 6], "c.key": {"k": "v", "n": null}, "c.may": {"": "e", "q": "w"},
    });
    let check = |field: &str, arg: Option<&str>, expected: Json| {
        let (table, stamp) = (table(), stamp());
        let event = EventSource { table: &table, name: "s", stamp: &stamp }.event(3, event.clone()).unwrap();
        let rows = event.rows();
        let index = table.fields().iter().position(|def| def.name == field).unwrap();
        assert_eq!(json::of_value(&rows[0].value(index, arg)), expected, "{field}[{arg:?}]");
    };
    check("c.name", None, json!("bob"));
    check("c.num", None, json!(7));
    check("c.truth", None, json!(true));
    check("c.ip", None, json!("10.0.0.1"));
    check("c.net", None, json!("10.0.0.0/8"));
    check("c.all", None, json!(["a", "b"]));
    check("c.at", Some("1"), json!("b"));
    check("c.at", Some("2"), json!(null));
    check("c.at", Some("18446744073709551615"), json!(null));
    check("c.nth", Some("0"), json!(5));
    check("c.key", Some("k"), json!("v"));
    check("c.key", Some("n"), json!(null));
    check("c.key", Some("none"), json!(null));
    check("c.may", Some("q"), json!("w"));
    check("c.may", None, json!(null));
    check("m.name", None, json!(null));
    check("evt.num", None, json!(3));
    check("evt.time", None, json!("22:13:20.123456789"));
    check("evt.rawtime", None, json!(1_700_000_000_123_456_789_u64));
    check("evt.pluginname", None, json!("s"));
    check("evt.hostname", None, json!("host"));
}

#[test]
fn an_event_is_told_with_sorted_keys() {
    let (table, stamp) = (table(), stamp());
    let source = EventSource { table: &table, name: "s", stamp: &stamp };
    let event = source.read(1, r#"{"c.num": 1, "c.all": ["é\n"], "c.key": {"z": "1", "a": "2"}}"#).unwrap();
    assert_eq!(event.info, r#"{"c.all":["é\n"],"c.key":{"a":"2","z":"1"},"c.num":1}"#);
}

#[test]
fn what_is_no_event_is_said() {
    let check = |text: &str, expected: &str| {
        let (table, stamp) = (table(), stamp());
        let error = EventSource { table: &table, name: "s", stamp: &stamp }.read(2, text).expect_err(text);
        assert!(error.to_string().starts_with(&format!("event 2: {expected}")), "{error}");
    };
    check("{", "not JSON at column 1: ");
    check(r#"{"c.name": "\ud800"}"#, "not JSON at column 19: ");
    check("[]", "an event must be an object, not a list");
    check(r#"{"c.nam": "x"}"#, "there is no field `c.nam` in the table");
    check(r#"{"c.name": 7}"#, "`c.name` must be a string, not `7`");
    check(r#"{"c.num": -1}"#, "`c.num` must be a whole number from 0, not `-1`");
    check(r#"{"c.num": "7"}"#, "`c.num` must be a whole number from 0, not `\"7\"`");
    check(r#"{"c.truth": 0}"#, "`c.truth` must be true or false, not `0`");
    check(r#"{"c.ip": "10.0.0"}"#, "`c.ip` must be an address, not `\"10.0.0\"`");
    check(r#"{"c.net": "10.0.0.0/33"}"#, "`c.net` must be a network such as `10.0.0.0/8`, not ");
    check(r#"{"c.all": "a"}"#, "`c.all` must be a list, not `\"a\"`");
    check(r#"{"c.all": [null]}"#, "`c.all` must be a string, not null");
    check(r#"{"c.name": ["a"]}"#, "`c.name` must be a string, not a list");
    check(r#"{"c.at": ["a"]}"#, "`c.at` is taken from `c.all`: give that");
    check(r#"{"c.key": "a"}"#, "`c.key` must be an object of its keys, not `\"a\"`");
    check(r#"{"m.name": "a"}"#, "`m.name` is a field of level command and stands in a part of level call");
    check(
        r#"{"commands": [{"c.name": "a"}]}"#,
        "`c.name` is a field of level call and stands in a part of level command",
    );
    check(r#"{"commands": [7]}"#, "each of `commands` must be an object, not a number");
    check(r#"{"effects": [{"effects": []}]}"#, "there is no field `effects` in the table");
}

const JOINED: &str = r#"{"c.name":"n",
    "commands":[{"m.name":"one"},{"m.name":"two","effects":[{"x.kind":"read"},{"x.kind":"write"}]}],
    "effects":[{"x.kind":"connect"}]}"#;

#[test]
fn rows_are_joined_coarse_first() {
    let (table, stamp) = (table(), stamp());
    let event = EventSource { table: &table, name: "s", stamp: &stamp }.read(1, JOINED).unwrap();
    let fields = ["c.name", "m.name", "x.kind"];
    let index = |name: &str| table.fields().iter().position(|def| def.name == name).unwrap();
    let rows: Vec<String> = event
        .rows()
        .iter()
        .map(|row| {
            let values = fields.map(|name| json::of_value(&row.value(index(name), None)).to_string());
            format!("{} {}", row.level().as_str(), values.join(" "))
        })
        .collect();
    assert_eq!(
        rows,
        [
            r#"call "n" null null"#,
            r#"command "n" "one" null"#,
            r#"command "n" "two" null"#,
            r#"effect "n" "two" "read""#,
            r#"effect "n" "two" "write""#,
            r#"effect "n" null "connect""#,
        ]
    );
}

#[test]
fn a_rule_is_reported_once_in_the_order_of_the_rules() {
    let check = |matching, expected: &[(&str, Level, &str)]| {
        let loaded = rules(&["x.kind exists", "m.name = two", "c.name = no", "c.name = n"], matching);
        let (table, stamp) = (table(), stamp());
        let event = EventSource { table: &table, name: "s", stamp: &stamp }.read(1, JOINED).unwrap();
        let matches = event.matches(&loaded.rules, matching);
        let brief: Vec<_> =
            matches.iter().map(|one| (one.rule.name.as_str(), one.level, one.message.as_str())).collect();
        assert_eq!(brief, expected);
    };
    let all = [
        ("x.kind exists", Level::Effect, "n|two"),
        ("m.name = two", Level::Command, "n|two"),
        ("c.name = n", Level::Call, "n|<NA>"),
    ];
    check(Matching::All, &all);
    check(Matching::First, &all[..1]);
}

#[test]
fn alerts_are_falcos() {
    let loaded = rules(&["c.name exists"], Matching::All);
    let (table, stamp) = (table(), stamp());
    let event = EventSource { table: &table, name: "s", stamp: &stamp };
    let event = event.read(4, r#"{"c.name": "a\nb\u0001\"é"}"#).unwrap();
    let found = event.matches(&loaded.rules, Matching::All);
    assert_eq!(alert::text(&found[0], &stamp), "22:13:20.123456789: Warning a\\nb\\u0001\"é|<NA>");
    let expected = concat!(
        r#"{"hostname":"host","message":"a\nb\u0001\"é|<NA>","output":"22:13:20.123456789: Warning a\nb\u0001\"é|<NA>","#,
        r#""output_fields":{"c.name":"a\nb\u0001\"é","evt.time":1700000000123456789,"m.name":null},"priority":"Warning","#,
        r#""rule":"c.name exists","source":"s","tags":["a","b"],"time":"2023-11-14T22:13:20.123456789Z"}"#,
    );
    assert_eq!(alert::json(&found[0], &stamp).to_string(), expected);
}
