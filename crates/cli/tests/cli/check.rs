//! `castellan check`: the exit code shows the verdict.

use serde_json::{Value as Json, json};

use crate::home::Home;

const RULES: &str = r#"
- rule: Deny the forbidden word
  desc: A test.
  condition: tool.input_command contains forbidden
  output: said %tool.input_command
  priority: CRITICAL
  source: coding_agent
  tags: [coding_agent_deny]

- rule: Ask about notes
  desc: A test.
  condition: tool.real_file_path endswith /notes.txt
  output: opens %tool.real_file_path
  priority: WARNING
  source: coding_agent
  tags: [coding_agent_ask]

- rule: Allow the readme
  desc: A test.
  condition: tool.name = Read and tool.file_name = README
  output: reads it
  priority: INFO
  source: coding_agent
  tags: [coding_agent_allow]

- rule: Remember the secret
  desc: A test.
  condition: tool.input_command contains secret
  output: opens it
  priority: INFO
  source: coding_agent
  tags: ["coding_agent_mark:secret"]
"#;

/// Returns a home with its own rules instead of the shipped ones.
fn home() -> Home {
    let home = Home::new();
    home.write("h/config/rules/default/10.yaml", RULES);
    std::fs::create_dir_all(home.path("h/config/rules/user")).unwrap();
    std::fs::create_dir_all(home.path("h/state/last-good")).unwrap();
    home
}

fn check(home: &Home, arguments: &[&str], code: i32, verdict: &str) -> String {
    let dir = home.path("h").display().to_string();
    let done = home.run(&[&["--home", &dir, "check"], arguments].concat());
    assert_eq!(done.code, Some(code), "{arguments:?}: {done:?}");
    assert!(done.stdout.starts_with(verdict), "{arguments:?}: {}", done.stdout);
    home.masked(&done.stdout)
}

#[test]
fn verdicts() {
    let home = home();
    check(&home, &["echo forbidden"], 11, "deny  the call does not run\n");
    check(&home, &["echo fine"], 0, "agent decides ");
    check(&home, &["--tool", "Bash", "--input", r#"{"command":"forbidden"}"#], 11, "deny ");
    check(&home, &["--tool", "Write", "--file", "notes.txt"], 10, "ask ");
    check(&home, &["--tool", "apply_patch", "--file", "notes.txt", "--agent", "codex"], 10, "ask ");
    check(&home, &["--tool", "Read", "--file", "README"], 0, "allow ");
    check(&home, &["--tool", "Edit", "--file", "notes.txt", "--cwd", "/"], 10, "ask ");
    check(&home, &["--tool", "NoSuchTool", "--input", "{}"], 0, "agent decides ");
    check(&home, &["--tool", "Write", "--input", r#"{"file_path": 1}"#], 11, "deny ");
}

#[test]
fn the_answer_shows_why() {
    let home = home();
    insta::assert_snapshot!("check_deny", check(&home, &["echo forbidden"], 11, "deny "));
    std::os::unix::fs::symlink("notes.txt", home.repo().join("link")).unwrap();
    let codex = ["--tool", "apply_patch", "--file", "notes.txt", "--agent", "codex"];
    insta::assert_snapshot!("check_codex", check(&home, &codex, 10, "ask "));
    insta::assert_snapshot!("check_ask", check(&home, &["--tool", "Write", "--file", "link"], 10, "ask "));
}

#[test]
fn json_names_rule_and_line() {
    let home = home();
    let dir = home.path("h").display().to_string();
    let done = home.run(&["--home", &dir, "check", "--json", "echo forbidden"]);
    let answer: Json = serde_json::from_str(&done.stdout).unwrap();
    let finding = &answer["findings"][0];
    assert_eq!((&answer["verdict"], &answer["mode"]), (&json!("deny"), &json!("enforce")));
    assert_eq!((&finding["rule"], &finding["line"]), (&json!("Deny the forbidden word"), &json!(2)));
    assert!(finding["file"].as_str().unwrap().ends_with("/config/rules/default/10.yaml"));
    assert_eq!(finding["message"], json!("said echo forbidden"));
    assert_eq!((&finding["layer"], &answer["marks"]), (&json!("user"), &json!([])));
}

#[test]
fn the_marks_that_a_call_would_set_are_shown() {
    let home = home();
    let answer = check(&home, &["cat secret"], 0, "agent decides ");
    assert!(answer.lines().any(|line| line.starts_with("marks ") && line.ends_with(" secret")), "{answer}");
    // No marks after a denial.
    let answer = check(&home, &["cat secret forbidden"], 11, "deny ");
    assert!(!answer.contains("marks"), "{answer}");
}

#[test]
fn castellans_own_rules_stand_above_the_files() {
    let home = home();
    let answer = check(&home, &["castellan stop"], 11, "deny ");
    assert!(answer.contains("built-in/self.yaml:"), "{answer}");
    home.write(
        "h/config/rules/user/mine.yaml",
        "- macro: is_shell\n  condition: tool.name = never\n- rule: Deny what loosens castellan\n  desc: d\n  \
         condition: tool.name = never\n  output: o\n  priority: DEBUG\n  source: coding_agent\n  enabled: false\n",
    );
    check(&home, &["castellan stop"], 11, "deny ");
}

#[test]
fn without_a_home_the_shipped_rules_judge() {
    let home = Home::new();
    let done = home.run(&["check", "rm -rf /"]);
    assert_eq!(done.code, Some(11), "{done:?}");
    assert!(done.stdout.contains("judged by the shipped rules"), "{}", done.stdout);
    assert!(!home.castellan_home().exists());
}

#[test]
fn a_mode_that_blocks_nothing_comes_before_the_verdict() {
    let home = home();
    home.write("h/config/config.toml", "version = 1\nmode = \"monitor\"\n");
    let first = "note: the call would run all the same, because the mode is monitor: ";
    let denied = check(&home, &["echo forbidden"], 11, first);
    assert!(denied.lines().nth(1).is_some_and(|line| line.starts_with("deny  ")), "{denied}");
    check(&home, &["echo fine"], 0, "note: the mode is monitor: ");
    home.write("h/config/config.toml", "version = 1\nmode = \"passthrough\"\n");
    check(&home, &["--tool", "Write", "--file", "notes.txt"], 10, "note: the call would run all the same, ");
}

#[test]
fn broken_rules_deny_and_say_where() {
    let home = home();
    home.write("h/config/rules/user/mine.yaml", "- rule: broken\n");
    let answer = check(&home, &["echo fine"], 11, "deny ");
    assert!(answer.contains("ROOT/h/config/rules/user/mine.yaml:1"), "{answer}");
}
