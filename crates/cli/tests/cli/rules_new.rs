//! `castellan rules new`.

use castellan_audit::{CallRecord, Record};

use crate::home::Home;
use crate::records::{self, NOON, write_log};

#[test]
fn a_command_becomes_a_rule_with_cases_that_hold() {
    let home = Home::new();
    let command = "frobnicate deploy --region 'eu west'";
    let done = home.run(&["rules", "new", "--command", command, "--into", ".", "--verdict", "deny", "--yes"]);
    assert_eq!(done.code, Some(0), "{done:?}");
    let rule = home.read("repo/deny-frobnicate.yaml");
    assert!(
        rule.contains("- rule: \"Deny frobnicate\"\n") && rule.contains("tags: [coding_agent_deny]"),
        "{rule}"
    );
    assert!(rule.contains("cmd.name = frobnicate"), "{rule}");
    let cases = home.read("repo/deny-frobnicate_cases.yaml");
    assert!(cases.matches("\"as\":\"look-alike\"").count() >= 2, "{cases}");
    assert!(cases.matches("\"as\":\"disguise\"").count() >= 2, "{cases}");
    let tested = home.run_ok(&["rules", "test", "deny-frobnicate.yaml"]);
    assert!(tested.contains("each decided as it says"), "{tested}");
    home.run_ok(&["rules", "validate", "deny-frobnicate.yaml"]);
    // An existing file is not replaced.
    let again =
        home.run(&["rules", "new", "--command", command, "--into", ".", "--verdict", "deny", "--yes"]);
    assert_eq!(again.code, Some(7), "{again:?}");
    assert!(again.stderr.contains("is there already"), "{again:?}");
}

/// A letter that turns the direction of writing could show another command than the one that runs.
#[test]
fn invisible_letters_are_visible_in_the_files() {
    let home = Home::new();
    let new = ["rules", "new", "--into", ".", "--verdict", "deny", "--yes", "--command"];
    home.run_ok(&[&new[..], &["frobnicate '\u{202e}fdp.x'"]].concat());
    for file in ["repo/deny-frobnicate.yaml", "repo/deny-frobnicate_cases.yaml"] {
        let text = home.read(file);
        assert!(text.contains("\\U0000202e") && !text.contains('\u{202e}'), "{text}");
    }
    let tested = home.run_ok(&["rules", "test", "deny-frobnicate.yaml"]);
    assert!(tested.contains("each decided as it says"), "{tested}");
    let named = home.run(&[&new[..], &["frobnicate y", "--name", "Deny \u{202e}x"]].concat());
    assert!(named.stderr.contains("visible text"), "{named:?}");
}

#[test]
fn what_is_changed_is_proposed_before_what_is_run() {
    let home = Home::new();
    let done = home.run(&[
        "rules",
        "new",
        "--command",
        "psql -c 'DROP TABLE users'",
        "--into",
        ".",
        "--name",
        "My rule",
        "--yes",
    ]);
    assert_eq!(done.code, Some(0), "{done:?}");
    let rule = home.read("repo/my-rule.yaml");
    assert!(rule.contains("fx.kind = destroy and fx.system = postgres"), "{rule}");
    assert!(rule.contains("tags: [coding_agent_ask]"), "{rule}");
}

#[test]
fn a_rule_that_would_decide_nothing_is_not_written() {
    let home = Home::new();
    let refused = |arguments: &[&str], why: &str| {
        let done = home.run(&[&["rules", "new", "--into", ".", "--yes"], arguments].concat());
        assert_eq!(done.code, Some(7), "{done:?}");
        assert!(done.stderr.contains(why), "{done:?}");
    };
    refused(&["--command", "frobnicate", "--condition", "cmd.name = other"], "it would decide nothing here");
    refused(&["--command", "frobnicate", "--condition", "cmd.nam = x"], "the rule does not load");
    refused(&["--command", "castellan mode monitor", "--verdict", "ask"], "the call is answered deny");
    assert_eq!(std::fs::read_dir(home.repo()).unwrap().count(), 0);
}

/// Paths in the user's home and workspace are renamed to those of the world of cases.
#[test]
fn a_recorded_call_becomes_a_rule() {
    let home = Home::new();
    let (workspace, user) = (home.repo().display().to_string(), home.user().display().to_string());
    let record = |command: &str| {
        Record::Call(CallRecord {
            request: "K7".into(),
            cwd: workspace.clone().into(),
            workspace: workspace.clone().into(),
            ..records::call(command, "ask")
        })
    };
    let commands = [format!("touch {workspace}/data/a {user}/notes"), "x".repeat(100_000)];
    write_log(&home, "h", NOON, &commands.map(|command| record(&command)));
    let directory = home.path("h").display().to_string();
    let new = |id: &str| {
        home.run(&["rules", "new", "--home", &directory, "--from-log", id, "--into", ".", "--yes"])
    };
    let done = new("1");
    assert_eq!(done.code, Some(0), "{done:?}");
    let rule = home.read("repo/ask-before-touch.yaml");
    assert!(rule.contains("fx.kind = write and fx.path endswith /data/a\n"), "{rule}");
    let cases = home.read("repo/ask-before-touch_cases.yaml");
    assert!(cases.contains("touch /home/dev/project/data/a /home/dev/notes"), "{cases}");
    let tested = home.run_ok(&["rules", "test", "ask-before-touch.yaml"]);
    assert!(tested.contains("each decided as it says"), "{tested}");
    for (id, why) in [
        ("K7", "does not hold all of the call"),
        ("K8", "the log has no call `K8`"),
        ("99", "has no call `99`"),
    ] {
        let done = new(id);
        assert_eq!(done.code, Some(7), "{done:?}");
        assert!(done.stderr.contains(why), "{done:?}");
    }
}

#[test]
fn a_folder_that_is_named_need_not_be_there() {
    let home = Home::new();
    let folder = home.path("new/rules");
    let arguments = ["rules", "new", "--command", "frobnicate", "--yes", "--into"];
    home.run_ok(&[&arguments[..], &[&folder.display().to_string()]].concat());
    assert_eq!(std::fs::read_dir(folder).unwrap().count(), 2);
}

#[test]
fn only_a_person_writes_into_the_home() {
    let home = Home::new();
    home.run_ok(&["install"]);
    let arguments = ["rules", "new", "--command", "frobnicate", "--yes"];
    let done = home.run(&arguments);
    assert_eq!(done.code, Some(4), "{done:?}");
    assert!(home.run_ok(&["rules", "test"]).starts_with("0 cases in 0 rule files"), "nothing was written");
    // The daemon has checked too.
    let tried = home.run_ok(&["log", "--json"]);
    let is_refusal = |line: &&str| line.contains("\"loosen\"") && line.contains("\"accepted\":false");
    assert_eq!(tried.lines().filter(is_refusal).count(), 1, "{tried}");
    let Some(done) = home.run_as_person(&arguments) else { return };
    assert_eq!(done.code, Some(0), "{done:?}");
    assert!(home.run_ok(&["rules", "test"]).contains("each decided as it says"));
}
