//! `castellan rules test`, and cases beside a rule file that block `castellan apply`.

use std::fs;

use serde_json::{Value as Json, json};

use crate::home::Home;

const RULES: &str = r#"- rule: Deny deleting the data
  desc: Whatever deletes below data.
  condition: fx.kind = delete and fx.path pmatch (/home/dev/project/data)
  output: "%fx.path is kept for good, so nothing was deleted; `git status` shows what is yours"
  priority: CRITICAL
  source: coding_agent
  tags: [coding_agent_deny]

- rule: Ask before renaming
  desc: No case is about it.
  condition: cmd.name = rename
  output: Renaming many files at once is asked about
  priority: WARNING
  source: coding_agent
  tags: [coding_agent_ask]
"#;

const CASES: &str = r#"version: 2
cases:
  - {call: {tool: Bash, command: rm data/a}, verdict: deny, rule: Deny deleting the data}
  - {call: {tool: Bash, command: bash x.sh, files: {x.sh: "rm data/a\n"}}, verdict: deny, rule: Deny deleting the data, as: disguise}
  - {call: {tool: Bash, command: rm database.log}, verdict: defer, rule: Deny deleting the data, as: look-alike}
  - {call: {tool: Bash, command: git status}, verdict: defer, rule: Deny deleting the data, as: instead}
"#;

fn home(cases: &str) -> Home {
    let home = Home::new();
    home.write("repo/mine.yaml", RULES);
    home.write("repo/mine_cases.yaml", cases);
    home
}

#[test]
fn cases_that_are_decided_as_they_say_are_counted() {
    let home = home(CASES);
    let done = home.run_ok(&["rules", "test", "mine.yaml"]);
    assert!(done.ends_with("4 cases in 1 rule file, each decided as it says\n"), "{done}");
    assert!(done.contains("no cases  Ask before renaming  mine.yaml:9"), "{done}");
    assert!(done.contains("mine.yaml:1: `Deny deleting the data` has 1 of at least 3 disguises"), "{done}");
    // The folder or the case file gives the same result.
    assert_eq!(home.run_ok(&["rules", "test", "mine_cases.yaml"]), done);
    assert_eq!(home.run_ok(&["rules", "test", "."]).replace("./", ""), done);
}

#[test]
fn a_failure_is_shown_with_what_was_found() {
    let wrong = CASES.replace("rm data/a}, verdict: deny", "ls data}, verdict: deny");
    let home = home(&wrong);
    let done = home.run(&["rules", "test", "mine.yaml", "--junit", "junit.xml"]);
    assert_eq!(done.code, Some(1), "{done:?}");
    let reported = "mine_cases.yaml:3  deny by `Deny deleting the data` is expected, but the verdict is defer, by no rule";
    assert!(done.stdout.contains(reported), "{}", done.stdout);
    assert!(done.stdout.contains("read        /home/dev/project/data"), "{}", done.stdout);
    assert!(done.stdout.ends_with("1 failed of 4 cases in 1 rule file\n"), "{}", done.stdout);
    let junit = home.read("repo/junit.xml");
    assert!(
        junit.contains("<testsuite name=\"mine_cases.yaml\" tests=\"4\" failures=\"1\" errors=\"0\">"),
        "{junit}"
    );
    assert!(junit.contains("name=\"line 3: Bash ls data\" file=\"mine_cases.yaml\" line=\"3\">"), "{junit}");
    assert_eq!(junit.matches("<testcase").count(), 4, "{junit}");

    let done = home.run(&["rules", "test", "mine.yaml", "--json"]);
    assert_eq!(done.code, Some(1), "{done:?}");
    let json: Json = serde_json::from_str(&done.stdout).unwrap();
    assert_eq!((&json["ok"], &json["cases"], &json["failed"]), (&json!(false), &json!(4), &json!(1)));
    let failure = &json["files"][0]["failures"][0];
    assert_eq!(
        (&failure["line"], &failure["expected"], &failure["verdict"]),
        (&json!(3), &json!("deny"), &json!("defer"))
    );
    assert_eq!(json["rules_without_cases"][0]["name"], json!("Ask before renaming"));
}

#[test]
fn another_profile_judges_otherwise() {
    let home = home(CASES);
    let done = home.run(&["rules", "test", "mine.yaml", "--profile", "kit"]);
    assert_eq!(done.code, Some(1), "{done:?}");
    assert!(done.stdout.contains("the verdict is allow"), "{}", done.stdout);
}

#[test]
fn wrong_case_files_are_errors_with_their_place() {
    let check = |from: &str, to: &str, place: &str, why: &str| {
        assert!(CASES.contains(from), "{from}");
        let home = home(&CASES.replacen(from, to, 1));
        for command in ["test", "validate"] {
            let done = home.run(&["rules", command, "mine.yaml"]);
            assert_eq!(done.code, Some(1), "{command} {done:?}");
            assert!(done.stdout.contains(why) && done.stdout.contains(place), "{command} {}", done.stdout);
        }
    };
    check(
        "as: look-alike",
        "as: lookalike",
        "mine_cases.yaml:5:",
        "`as` is `disguise`, `look-alike` or `instead`",
    );
    check("verdict: deny", "verdit: deny", "mine_cases.yaml:3:", "unknown key `verdit`");
    check("version: 2", "version: [", "mine_cases.yaml:", "error[");
    check(
        "rule: Deny deleting the data}",
        "rule: Deny data}",
        "mine_cases.yaml:3:",
        "there is no rule `Deny data`",
    );
    check("command: git status", "command: git diff", "mine_cases.yaml:6:", "does not name `git diff`");
}

#[test]
fn an_alternative_that_is_itself_stopped_is_an_error_with_its_place() {
    let home = home(&CASES.replace("command: git status", "command: rm data/b"));
    home.write("repo/mine.yaml", RULES.replace("`git status` shows what is yours", "try `rm data/b`"));
    let why = "the message of `Deny deleting the data` says to do this instead, but the verdict is deny, by `Deny deleting the data`";
    let done = home.run(&["rules", "validate", "mine.yaml"]);
    assert_eq!(done.code, Some(1), "{done:?}");
    assert!(done.stdout.contains(why) && done.stdout.contains("mine_cases.yaml:6:"), "{}", done.stdout);
    assert!(done.stdout.ends_with("1 error, 0 warnings in 2 files\n"), "{}", done.stdout);
}

#[test]
fn a_message_that_agents_would_cut_is_an_error() {
    let home = home(CASES);
    home.write(
        "repo/mine.yaml",
        RULES.replace("asked about\n", &format!("asked about {}\n", "x".repeat(400))),
    );
    let done = home.run(&["rules", "validate", "mine.yaml"]);
    assert_eq!(done.code, Some(1), "{done:?}");
    assert!(done.stdout.contains("has 443 bytes: agents cut what is over 400"), "{}", done.stdout);
    assert!(done.stdout.contains("mine.yaml:9:"), "{}", done.stdout);
}

/// A fault in a user's rule file is an error with its place, and nothing of the set is applied.
#[test]
fn a_rule_file_with_a_fault_is_not_applied() {
    let home = Home::new();
    home.run_ok(&["install"]);
    let user = home.user().join(".config/castellan/rules/user");
    let check = |from: &str, to: &str, place: &str, why: &str| {
        assert!(RULES.contains(from), "{from}");
        fs::write(user.join("mine.yaml"), RULES.replacen(from, to, 1)).unwrap();
        for command in [&["rules", "validate"][..], &["apply", "--check"]] {
            let done = home.run(command);
            let reported = format!("{}{}", done.stdout, done.stderr);
            assert_eq!(done.code, Some(1), "{command:?} {done:?}");
            assert!(reported.contains(place) && reported.contains(why), "{command:?} {reported}");
        }
    };
    check("cmd.name = rename", "cmd.nme = rename", "mine.yaml:11:", "there is no field `cmd.nme`");
    check(
        "rule: Ask before renaming",
        "rule: Deny deleting the data",
        "mine.yaml:9:",
        "defines this rule twice",
    );
    check("  desc: No case is about it.\n", "", "mine.yaml:9:", "the key `desc` is missing");
}

#[test]
fn rules_in_a_file_that_is_called_as_cases_are_rules() {
    let home = Home::new();
    home.write("repo/edge.yaml", RULES);
    home.write("repo/edge_cases.yaml", RULES.replace("the data", "the edge").replace("renaming", "moving"));
    let done = home.run_ok(&["rules", "test", "."]);
    assert!(done.contains("no cases  Ask before moving"), "{done}");
}

#[test]
fn the_shipped_rules_are_tested_without_a_home() {
    let home = Home::new();
    // The tests of the packs check the verdicts of these cases.
    let done = home.run(&["rules", "test", "--shipped", "--json"]);
    let json: Json = serde_json::from_str(&done.stdout).unwrap();
    let files = json["files"].as_array().unwrap();
    assert!(files.iter().all(|file| file["cases"].as_u64() > Some(0)), "{done:?}");
    assert!(files.iter().any(|file| file["rules"] == json!("built-in/self.yaml")), "{done:?}");
    let none = home.run(&["rules", "test"]);
    assert_eq!(none.code, Some(7), "{none:?}");
    assert!(none.stderr.contains("`--shipped`"), "{none:?}");
}

/// The user's own rules are loaded without their cases, and are not applied if no message names a safe alternative.
#[test]
fn apply_looks_at_the_cases_of_the_users_rules() {
    let home = Home::new();
    home.run_ok(&["install"]);
    let user = home.user().join(".config/castellan/rules/user");
    fs::write(user.join("mine.yaml"), RULES).unwrap();
    fs::write(user.join("mine_cases.yaml"), CASES.replace("command: git status", "command: git diff"))
        .unwrap();
    let done = home.run(&["apply", "--check"]);
    assert_eq!(done.code, Some(1), "{done:?}");
    assert!(done.stdout.contains("does not name `git diff`"), "{}", done.stdout);
    fs::write(user.join("mine_cases.yaml"), CASES).unwrap();
    let done = home.run(&["apply", "--check"]);
    assert_eq!(done.code, Some(12), "{done:?}");
    assert!(!done.stdout.contains("mine_cases.yaml"), "{}", done.stdout);
    let tested = home.run_ok(&["rules", "test"]);
    assert!(tested.ends_with("4 cases in 1 rule file, each decided as it says\n"), "{tested}");
}

const CONTAINING: &str = r#"- rule: Contain stream edits
  desc: A change of many files.
  condition: cmd.name = sed
  output: Changing files by patterns is done in a sandbox
  priority: WARNING
  source: coding_agent
  tags: [coding_agent_contain]
"#;

#[test]
fn a_case_says_that_a_call_is_contained() {
    let check = |case: &str, expected: Option<&str>| {
        let home = Home::new();
        home.write("repo/mine.yaml", CONTAINING);
        home.write("repo/mine_cases.yaml", format!("version: 2\ncases:\n  - {{call: {case}}}\n"));
        let done = home.run(&["rules", "test", "mine.yaml"]);
        assert_eq!(done.code, Some(i32::from(expected.is_some())), "{case}: {done:?}");
        assert!(
            done.stdout.contains(expected.unwrap_or("each decided as it says")),
            "{case}: {}",
            done.stdout
        );
    };
    let of = |command: &str, rest: &str| {
        format!("{{tool: Bash, command: {command}}}, verdict: ask, rule: Contain stream edits{rest}")
    };
    let inside = "sed -i s/a/b/ main.py";
    let (not, is) = ("castellan does not contain the call", "castellan contains the call");
    check(&of(inside, ""), None);
    check(&of(inside, ", contained: true"), None);
    check(&of(inside, ", contained: false"), Some(is));
    // This agent runs no other command.
    let of_qwen = |rest: &str| of(inside, rest).replace("tool: Bash", "agent: qwen, tool: run_shell_command");
    check(&of_qwen(", contained: false"), None);
    check(&of_qwen(", contained: true"), Some(not));
}
