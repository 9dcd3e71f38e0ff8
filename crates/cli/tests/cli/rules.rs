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
    assert_eq!(answer["ok"], json!(false));
    assert_eq!(
        (&answer["problems"][0]["file"], &answer["problems"][0]["line"]),
        (&json!("broken.yaml"), &json!(6))
    );
}

#[test]
fn sound_files_have_no_problems() {
    let home = Home::new();
    home.write("repo/sound.yaml", BROKEN.replace("flie_path", "file_path"));
    assert_eq!(home.run_ok(&["rules", "validate", "sound.yaml"]), "no problems in 1 file\n");
    assert_eq!(home.run_ok(&["rules", "validate", "-q", "sound.yaml"]), "");
    let missing = home.run(&["rules", "validate", "nothing.yaml"]);
    assert_eq!(missing.code, Some(7));
    assert!(missing.stderr.starts_with("castellan: `nothing.yaml`: "), "{}", missing.stderr);
    let no_home = home.run(&["rules", "validate"]);
    assert!(no_home.stderr.contains("run `castellan install`"), "{}", no_home.stderr);
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
    assert!(table.lines().any(|line| line.starts_with("deny  Deny the castellan canary  ")), "{table}");
}

#[test]
fn every_field_is_listed() {
    let home = Home::new();
    let fields: Json = serde_json::from_str(&home.run_ok(&["rules", "fields", "--json"])).unwrap();
    let names: Vec<&str> =
        fields.as_array().unwrap().iter().map(|field| field["name"].as_str().unwrap()).collect();
    let expected: Vec<&str> = castellan_event::FIELDS.iter().map(|field| field.name).collect();
    assert_eq!(names, expected);
    let markdown = home.run_ok(&["rules", "fields", "--markdown"]);
    assert!(markdown.contains("| `tool.name` | text | call | canonical name of the tool"), "{markdown}");
    assert_eq!(markdown.lines().count(), expected.len() + 2);
}
