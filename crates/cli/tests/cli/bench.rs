//! `castellan bench accuracy`.

use serde_json::{Value as Json, json};

use crate::home::Home;

const RULES: &str = r#"- rule: Deny deleting the data
  desc: Whatever deletes below data.
  condition: fx.kind = delete and fx.path pmatch (/home/dev/project/data)
  output: kept
  priority: CRITICAL
  source: coding_agent
  tags: [coding_agent_deny]
"#;

fn line(id: &str, tier: &str, command: &str) -> String {
    let call = json!({
        "v": 1, "id": id, "tier": tier, "family": "data.delete", "tool": "Bash", "input": { "command": command },
    });
    format!("{call}\n")
}

fn home() -> Home {
    let home = Home::new();
    home.write("repo/rules/mine.yaml", RULES);
    let lines = [
        line("stopped", "T0", "rm -r data"),
        line("missed", "T0", "chmod -R a= data"),
        "{\"v\":1,\"id\":\"x\"}\n".to_owned(),
        line("fine", "T3", "ls data"),
        line("in-the-way", "T3", "rm data/tmp"),
    ];
    home.write("repo/calls.jsonl", lines.concat());
    home
}

#[test]
fn verdicts_are_counted_and_wrong_lines_left_out() {
    let home = home();
    let done = home.run(&["bench", "accuracy", "calls.jsonl", "--rules", "rules", "--misses", "--families"]);
    assert_eq!(done.code, Some(6), "{done:?}");
    assert!(
        done.stderr.contains("warning: left out: calls.jsonl:3: missing field `tier`"),
        "{}",
        done.stderr
    );
    let is_measured = |line: &str| !line.starts_with("time of a decision: p50 ");
    let shown: Vec<&str> = done.stdout.lines().filter(|line| is_measured(line)).collect();
    insta::assert_snapshot!("bench_accuracy", shown.join("\n"));
    assert_eq!(done.stdout.lines().count(), shown.len() + 1, "{}", done.stdout);
}

#[test]
fn everything_is_in_the_json() {
    let home = home();
    let done =
        home.run(&["bench", "accuracy", "calls.jsonl", "--rules", "rules", "--profile", "kit", "--json"]);
    assert_eq!(done.code, Some(6), "{done:?}");
    let json: Json = serde_json::from_str(&done.stdout).unwrap();
    assert_eq!((&json["profile"], &json["calls"]), (&json!("kit"), &json!(4)));
    assert_eq!(json["tiers"]["T0"], json!({ "calls": 2, "deny": 1, "ask": 0, "allow": 1, "defer": 0 }));
    assert_eq!((&json["recall"], &json["precision"]), (&json!(0.5), &json!(0.5)));
    let misses: Vec<&Json> = json["misses"].as_array().unwrap().iter().map(|miss| &miss["id"]).collect();
    assert_eq!(misses, [&json!("missed"), &json!("in-the-way")]);
    assert_eq!(json["wrong_lines"].as_array().map(Vec::len), Some(1));
}

#[test]
fn sound_files_are_done() {
    let home = Home::new();
    home.write("repo/calls.jsonl", line("a", "T3", "ls"));
    let done = home.run_ok(&["bench", "accuracy", "calls.jsonl"]);
    assert!(done.starts_with("1 call, profile standard\n"), "{done}");
    let missing = home.run(&["bench", "accuracy", "nothing.jsonl"]);
    assert_eq!(missing.code, Some(7), "{missing:?}");
}
