//! `castellan rules`.

use serde_json::{Value as Json, json};

use crate::home::Home;

const BROKEN: &str = r#"- macro: writes
  condition: tool.name in (Write, Edit)

- rule: Deny writing notes
  desc: A test.
  condition: writes and tool.flie_path endswith notes.txt
  output: no
  priority: CRITICAL
  source: coding_agent
  tags: [coding_agent_deny]
"#;

#[test]
fn problems_are_shown_in_their_line() {
    let home = Home::new();
    home.write("repo/broken.yaml", BROKEN);
    let done = home.run(&["rules", "validate", "broken.yaml"]);
    assert_eq!(done.code, Some(1), "{done:?}");
    insta::assert_snapshot!("rules_validate_broken", done.stdout);

    let json = home.run(&["rules", "validate", "--json", "broken.yaml"]);
    assert_eq!(json.code, Some(1));
    let answer: Json = serde_json::from_str(&json.stdout).unwrap();
    let file = &answer["falco_load_results"][0];
    assert_eq!((&file["name"], &file["successful"]), (&json!("broken.yaml"), &json!(false)));
    let error = &file["errors"][0];
    assert_eq!(error["code"], json!("LOAD_ERR_COMPILE_CONDITION"));
    assert_eq!(error["help"], json!("did you mean `tool.file_path`?"));
    let at = &error["context"]["locations"][1];
    assert_eq!((&at["item_type"], &at["item_name"]), (&json!("rule"), &json!("Deny writing notes")));
    assert_eq!(
        at["position"],
        json!({ "name": "broken.yaml", "line": 5, "column": 24, "offset": BROKEN.find("tool.flie_path") })
    );
}

#[test]
fn a_tag_that_castellan_does_not_know_is_an_error() {
    let home = Home::new();
    let sound = BROKEN.replace("flie_path", "file_path");
    let check = |tag: &str, expected: Option<&str>| {
        home.write("repo/tagged.yaml", sound.replace("coding_agent_deny", tag));
        let done = home.run(&["rules", "validate", "tagged.yaml"]);
        assert_eq!(done.code, Some(i32::from(expected.is_some())), "{tag}: {done:?}");
        assert!(done.stdout.contains(expected.unwrap_or("no problems in 1 file")), "{tag}: {}", done.stdout);
    };
    check("coding_agent_aks", Some("did you mean `coding_agent_ask`?"));
    check("coding_agent_dney", Some("did you mean `coding_agent_deny`?"));
    check("\"coding_agent_mark:\"", Some("the tag `coding_agent_mark:` has no label"));
    check("\"coding_agent_mark:seen\"", None);
    check("coding_agent_seen", None);
    check("T1485", None);
    // Also in a change of an earlier rule.
    let change = "\n- rule: Deny writing notes\n  tags: [coding_agent_aks]\n  override: {tags: append}\n";
    home.write("repo/tagged.yaml", format!("{sound}{change}"));
    assert_eq!(home.run(&["rules", "validate", "tagged.yaml"]).code, Some(1));
}

#[test]
fn sound_files_have_no_problems() {
    let home = Home::new();
    home.write("repo/sound.yaml", BROKEN.replace("flie_path", "file_path"));
    assert_eq!(home.run_ok(&["rules", "validate", "sound.yaml"]), "no problems in 1 file\n");
    assert_eq!(home.run_ok(&["rules", "validate", "-q", "sound.yaml"]), "");
    let missing = home.run(&["rules", "validate", "nothing.yaml"]);
    assert_eq!(missing.code, Some(7));
    assert!(missing.stderr.starts_with("error: `nothing.yaml`: "), "{}", missing.stderr);
    let no_home = home.run(&["rules", "validate"]);
    assert!(no_home.stderr.contains("run `castellan install`"), "{}", no_home.stderr);
}

#[test]
fn lints_can_be_left_out() {
    let home = Home::new();
    // A path prefix without a boundary: Falco does not report it.
    let doubtful =
        BROKEN.replace("tool.flie_path endswith notes.txt", "tool.file_path startswith val(agent.cwd)");
    home.write("repo/doubtful.yaml", &doubtful);
    assert_eq!(home.run_ok(&["rules", "validate", "--no-lints", "doubtful.yaml"]), "no problems in 1 file\n");
    home.write("repo/never.yaml", BROKEN.replace("tool.flie_path endswith notes.txt", "tool.name = Read"));
    let warned = home.run_ok(&["rules", "validate", "never.yaml"]);
    assert!(
        warned.contains("warning[CASTELLAN_NEVER]") && warned.ends_with("1 warning in 1 file\n"),
        "{warned}"
    );
    assert_eq!(home.run_ok(&["rules", "validate", "--no-lints", "never.yaml"]), "no problems in 1 file\n");
    let denied = home.run(&["rules", "validate", "--deny-warnings", "never.yaml"]);
    assert_eq!((denied.code, denied.stdout), (Some(1), warned));
}

#[test]
fn files_that_are_no_text_are_refused_with_their_line() {
    let home = Home::new();
    home.write("repo/bytes.yaml", b"- list: l\n  items: [\xff]\n");
    let done = home.run(&["rules", "validate", "bytes.yaml"]);
    assert_eq!(done.code, Some(1), "{done:?}");
    assert!(
        done.stdout.starts_with("error[LOAD_ERR_FILE_READ]: a byte that is not UTF-8\n --> bytes.yaml:2:11"),
        "{done:?}"
    );
    let json = home.run(&["rules", "validate", "--json", "bytes.yaml"]);
    let json: Json = serde_json::from_str(&json.stdout).unwrap();
    assert_eq!(json["falco_load_results"][0]["errors"][0]["code"], json!("LOAD_ERR_FILE_READ"));
    home.write("repo/events.jsonl", "{}\n");
    let eval = home.run(&["rules", "eval", "--rules", "bytes.yaml", "--events", "events.jsonl"]);
    assert_eq!(eval.code, Some(7), "{eval:?}");
    assert!(eval.stderr.contains("bytes.yaml:2:11"), "{eval:?}");
}

#[test]
fn shipped_rules_are_listed_with_their_verdict() {
    let home = Home::new();
    let rules: Json = serde_json::from_str(&home.run_ok(&["rules", "list", "--json"])).unwrap();
    let rules = rules.as_array().unwrap();
    assert!(rules.len() >= 20, "{}", rules.len());
    let canary = rules.iter().find(|rule| rule["name"] == json!("Deny the castellan canary")).unwrap();
    assert_eq!(canary["verdict"], json!("deny"));
    let table = home.run_ok(&["rules", "list"]);
    let is_canary =
        |line: &str| line.split_whitespace().take(5).eq("deny Deny the castellan canary".split(' '));
    assert!(table.lines().any(is_canary), "{table}");
}

#[test]
fn every_field_is_listed() {
    let home = Home::new();
    let fields: Json = serde_json::from_str(&home.run_ok(&["rules", "fields", "--json"])).unwrap();
    let names: Vec<&str> =
        fields["fields"].as_array().unwrap().iter().map(|field| field["name"].as_str().unwrap()).collect();
    let expected: Vec<&str> = castellan_event::FIELDS.iter().map(|field| field.name).collect();
    assert_eq!(names, expected);
    home.write("repo/table.json", fields.to_string());
    home.write("repo/sound.yaml", BROKEN.replace("flie_path", "file_path"));
    let validate = ["rules", "validate", "--fields", "table.json", "sound.yaml"];
    assert_eq!(home.run_ok(&validate), "no problems in 1 file\n", "what is printed is a field table");
    let markdown = home.run_ok(&["rules", "fields", "--markdown"]);
    assert!(markdown.contains("| `tool.name` | text | call | canonical name of the tool"), "{markdown}");
    let (table, words) = markdown.split_once("\n\n").unwrap();
    assert_eq!(table.lines().count(), expected.len() + 2);
    assert!(
        words.contains("## Words of `fx.kind`") && words.contains("| `delete` | removes a path |"),
        "{words}"
    );
}
