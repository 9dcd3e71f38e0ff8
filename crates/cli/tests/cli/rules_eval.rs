//! `castellan rules eval`.

use serde_json::{Value as Json, json};

use crate::home::{Done, Home};

const RULES: &str = r#"- rule: Writes notes
  desc: d
  condition: tool.name in (Write, Edit) and tool.file_path endswith notes.txt
  output: "%tool.name of %tool.file_path"
  priority: CRITICAL
  source: coding_agent
  tags: [files, coding_agent_deny]

- rule: Writes anything
  desc: d
  condition: tool.name = Write
  output: wrote
  priority: NOTICE
  source: coding_agent
  tags: [files]

- rule: Removes
  desc: d
  condition: cmd.name = rm or fx.kind = delete
  output: "%row.level %cmd.name"
  priority: WARNING
  source: coding_agent
"#;

const EVENTS: &str = r#"{"tool.name": "Write", "tool.file_path": "/a/notes.txt"}

{"tool.name": "Bash", "commands": [{"cmd.name": "ls"}, {"cmd.name": "rm", "effects": [{"fx.kind": "delete"}]}]}
{"tool.name": "Bash", "effects": [{"fx.kind": "delete"}]}
"#;

const TIME: &str = "2026-01-31T12:00:00.5Z";

fn eval(home: &Home, options: &[&str]) -> Done {
    home.write("repo/rules.yaml", RULES);
    home.write("repo/events.jsonl", EVENTS);
    let usual = ["rules", "eval", "--rules", "rules.yaml", "--events", "events.jsonl", "--time", TIME];
    home.run(&[&usual, options].concat())
}

#[test]
fn alerts_are_printed_in_order() {
    let done = eval(&Home::new(), &[]);
    let expected = "\
12:00:00.500000000: Critical Write of /a/notes.txt
12:00:00.500000000: Notice wrote
12:00:00.500000000: Warning command rm
12:00:00.500000000: Warning effect <NA>
";
    assert_eq!((done.code, done.stdout.as_str(), done.stderr.as_str()), (Some(0), expected, ""));
}

#[test]
fn rules_are_chosen() {
    let home = Home::new();
    let check = |options: &[&str], expected: &[&str]| {
        let done = eval(&home, &[options, &["--format", "json"]].concat());
        assert_eq!(done.code, Some(0), "{options:?}: {done:?}");
        let rules: Vec<String> = done
            .stdout
            .lines()
            .map(|line| {
                let alert: Json = serde_json::from_str(line).unwrap();
                format!("{} {}", alert["event"], alert["rule"].as_str().unwrap())
            })
            .collect();
        assert_eq!(rules, expected, "{options:?}");
    };
    let (notes, anything) = ("1 Writes notes", "1 Writes anything");
    let (command, effect) = ("2 Removes", "3 Removes");
    check(&[], &[notes, anything, command, effect]);
    check(&["--matching", "first"], &[notes, command, effect]);
    check(&["--priority", "warning"], &[notes, command, effect]);
    check(&["--disable", "Writes*"], &[command, effect]);
    check(&["--disable", "*", "--enable", "tag=files"], &[notes, anything]);
    check(&["--enable", "Removes", "--disable", "*"], &[command, effect]);
    check(&["--source", "other"], &[]);
}

#[test]
fn both_kinds_of_json() {
    let home = Home::new();
    let first = |format: &str| -> Json {
        let done = eval(&home, &["--format", format]);
        serde_json::from_str(done.stdout.lines().next().unwrap()).unwrap()
    };
    let fields = json!({ "tool.file_path": "/a/notes.txt", "tool.name": "Write" });
    assert_eq!(
        first("json"),
        json!({
            "event": 1, "row": "call", "rule": "Writes notes", "priority": "Critical",
            "tags": ["coding_agent_deny", "files"], "message": "Write of /a/notes.txt", "output_fields": fields,
        })
    );
    let mut falco = first("falco-json");
    assert!(!falco["hostname"].as_str().unwrap().is_empty());
    falco["hostname"] = json!("");
    let keys: Vec<&String> = falco.as_object().unwrap().keys().collect();
    assert!(keys.is_sorted(), "{keys:?}");
    assert_eq!(
        falco,
        json!({
            "hostname": "", "message": "Write of /a/notes.txt",
            "output": "12:00:00.500000000: Critical Write of /a/notes.txt",
            "output_fields": {
                "evt.time": 1_769_860_800_500_000_000_u64, "tool.file_path": "/a/notes.txt", "tool.name": "Write",
            },
            "priority": "Critical", "rule": "Writes notes", "source": "coding_agent",
            "tags": ["coding_agent_deny", "files"], "time": "2026-01-31T12:00:00.500000000Z",
        })
    );
}

#[test]
fn a_table_of_fields_makes_any_source() {
    let home = Home::new();
    home.write(
        "repo/table.json",
        r#"{"version":1,"source":"doors","plugins":[{"name":"locks","version":"1.2.0"}],
            "fields":[{"name":"door.name","type":"string"},{"name":"door.keys","type":"uint64","argument":"key"}]}"#,
    );
    home.write(
        "repo/doors.yaml",
        "- required_plugin_versions: [{name: locks, version: 1.1.0}]\n- rule: Open\n  desc: d\n  condition: door.keys[a] > 1\n  \
         output: \"%evt.num %evt.source %door.name\"\n  priority: INFO\n  source: doors\n",
    );
    home.write(
        "repo/doors.jsonl",
        "{\"door.name\": \"front\", \"door.keys\": {\"a\": 2}}\n{\"door.keys\": {\"a\": 1}}\n",
    );
    let usual = ["rules", "eval", "--fields", "table.json", "--rules", "doors.yaml", "--time", TIME];
    let stdout = home.run_ok(&[&usual[..], &["--events", "doors.jsonl"]].concat());
    assert_eq!(stdout, "12:00:00.500000000: Informational 1 doors front\n");
    home.write("repo/table.json", r#"{"version":1,"fields":[{"name":"door.name","type":"text"}]}"#);
    let done = home.run(&[&usual[..], &["--events", "doors.jsonl"]].concat());
    assert_eq!(done.code, Some(7));
    assert!(
        done.stderr.starts_with("error: `table.json`: field 1 (`door.name`): `text` is not a type"),
        "{done:?}"
    );
}

#[test]
fn the_language_is_chosen() {
    let home = Home::new();
    let check = |condition: &str, options: &[&str], code: i32, part: &str| {
        home.write(
            "repo/one.yaml",
            format!(
                "- rule: r\n  desc: d\n  condition: {condition}\n  output: o\n  priority: INFO\n  source: coding_agent\n"
            ),
        );
        home.write("repo/events.jsonl", EVENTS);
        let usual = ["rules", "eval", "--rules", "one.yaml", "--events", "events.jsonl", "--format", "json"];
        let done = home.run(&[&usual[..], options].concat());
        assert_eq!(done.code, Some(code), "{condition} {options:?}: {done:?}");
        assert!((done.stdout.clone() + &done.stderr).contains(part), "{condition} {options:?}: {done:?}");
    };
    let newer = "concat(tool.name, tool.file_path) = Write/a/notes.txt";
    check(newer, &[], 1, "LOAD_ERR_COMPILE_CONDITION");
    check(newer, &["--engine", "0.44"], 0, "{\"event\":1,");
    let invalid = r#"tool.name regex "(?i)write""#;
    check(invalid, &[], 1, "one.yaml:3");
    check(invalid, &["--regex-compat", "falco"], 0, "one.yaml:3");
    check(invalid, &["--regex-compat", "falco", "--quiet"], 0, "");
}

#[test]
fn what_cannot_be_tried_is_said() {
    let home = Home::new();
    let check = |events: &str, code: i32, expected: &str| {
        home.write("repo/rules.yaml", RULES);
        home.write("repo/bad.jsonl", events);
        let done =
            home.run(&["rules", "eval", "--rules", "rules.yaml", "--events", "bad.jsonl", "--time", TIME]);
        assert_eq!(done.code, Some(code), "{done:?}");
        assert_eq!(done.stderr, format!("error: {expected}\n"));
    };
    check(
        "{\"tool.nam\": \"x\"}\n",
        7,
        "`bad.jsonl` line 1: event 1: there is no field `tool.nam` in the table",
    );
    check(
        "{\"tool.name\": \"Read\"}\n\n{\"tool.name\": 7}\n",
        7,
        "`bad.jsonl` line 3: event 2: `tool.name` must be a string, not `7`",
    );
    check("\n{\"tool.name\": }\n", 7, "`bad.jsonl` line 2: event 1: not JSON at column 15: expected value");
    let missing = home.run(&["rules", "eval", "--rules", "rules.yaml", "--events", "none.jsonl"]);
    assert_eq!(missing.code, Some(7));
    assert!(missing.stderr.starts_with("error: `none.jsonl`: "), "{missing:?}");
    home.write("repo/rules.yaml", RULES.replace("tool.name = Write", "tool.nam = Write"));
    let broken = home.run(&["rules", "eval", "--rules", "rules.yaml", "--events", "bad.jsonl"]);
    assert_eq!((broken.code, broken.stdout.as_str()), (Some(1), ""));
    assert!(broken.stderr.contains("--> rules.yaml:11:14"), "{}", broken.stderr);
}
