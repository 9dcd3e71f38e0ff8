//! `castellan allow`, `config set` and `config unset`: what loosens needs a person, comments stay, mistakes are named.

use crate::home::{Done, Home};

const CONFIG: &str = "user/.config/castellan/config.toml";

/// Returns a home with a daemon and a configuration in force.
fn home(config: &str) -> Home {
    let home = Home::new();
    home.write("h/config/config.toml", format!("version = 1\n{config}"));
    home.run_ok(&["--home", &home.path("h").display().to_string(), "start"]);
    home
}

fn arguments<'a>(dir: &'a str, words: &[&'a str]) -> Vec<&'a str> {
    [&["--home", dir], words].concat()
}

/// Runs castellan without a terminal, like a program.
fn run(home: &Home, words: &[&str]) -> Done {
    home.run(&arguments(&home.path("h").display().to_string(), words))
}

fn run_as_person(home: &Home, words: &[&str]) -> Option<Done> {
    home.run_as_person(&arguments(&home.path("h").display().to_string(), words))
}

fn config(home: &Home) -> String {
    home.read("h/config/config.toml")
}

#[test]
fn a_short_rule_is_added_by_a_person_and_removed_by_anybody() {
    let home = Home::new();
    home.run_ok(&["install", "--no-agents"]);
    let before = home.read(CONFIG);
    let add = ["allow", "Bash(git push:*)", "--yes"];
    let refused = home.run(&add);
    assert_eq!(refused.code, Some(4), "{refused:?}");
    assert!(refused.stderr.contains("person"), "{refused:?}");
    assert_eq!(home.read(CONFIG), before);
    let log = home.run_ok(&["log"]);
    assert!(log.contains("allow add Bash(git push:*)") && log.contains("refused"), "{log}");

    let Some(done) = home.run_as_person(&add) else { return };
    assert_eq!(done.code, Some(0), "{done:?}");
    insta::assert_snapshot!("allow", done.stdout);
    let after = home.read(CONFIG);
    assert_eq!(after.replace("allow = [\"Bash(git push:*)\"]\n", ""), before);
    assert_eq!(home.run_ok(&["check", "git push"]).split_whitespace().next(), Some("allow"));
    assert_eq!(home.run_ok(&["allow", "Bash(git push:*)"]), "`Bash(git push:*)` is allowed already\n");
    let show = home.run_ok(&["config", "show", "allow"]);
    assert!(show.contains("Bash(git push:*)"), "{show}");

    let removed = home.run(&["allow", "--remove", "Bash(git push:*)"]);
    assert_eq!(removed.code, Some(0), "{removed:?}");
    insta::assert_snapshot!("allow_remove", removed.stdout);
    assert_ne!(home.run(&["check", "git push"]).stdout.split_whitespace().next(), Some("allow"));
    assert_eq!(home.run(&["allow", "--remove", "Bash(git push:*)"]).code, Some(1));
    assert!(!home.run(&["status"]).stdout.contains("config.toml"));
}

/// Checks a command without a terminal: its exit code, and a part of its output.
fn check(home: &Home, words: &[&str], code: i32, part: &str) {
    let before = config(home);
    let done = run(home, words);
    assert_eq!(done.code, Some(code), "{words:?}: {done:?}");
    assert!([done.stdout, done.stderr].concat().contains(part), "{words:?}: no {part}");
    assert_eq!(config(home) == before, code != 0, "{words:?}");
}

#[test]
fn a_wrong_key_or_value_is_named_and_changes_nothing() {
    let home = home("deny = ['Bash(a)']\n");
    let set = |key, value, part| check(&home, &["config", "set", key, value], 1, part);
    set("ask_wiat", "5", "error: unknown key `ask_wiat`: did you mean `ask_wait`?");
    set("ask_wait", "long", "`ask_wait` must be a whole number from 0 to 4294967295");
    set("ask_wait", "581", "`ask_wait` is 581: write at most 580");
    set("profile", "stric", "did you mean `strict`?");
    set("deny", "Bash(a)", "`deny` must be a list of texts");
    set("deny", "['Bash(a']", "`Bash(a`: ");
    set("packs.self", "off", "castellan's own rules (the pack `self`) are always enforced");
    set("locked", "['deny']", "`locked` is valid only in the organisation's file");
    set("headless_default", "allow", "`headless_default` cannot be set: choose a `profile` that presets it");
    set("version", "2", "`version` is 2, but this castellan reads 1");
    set("tags.ask", "coding_agent_deny", "are both `coding_agent_deny`");
    check(&home, &["config", "unset", "version"], 1, "`version` is missing");
    check(&home, &["config", "unset", "mod"], 1, "did you mean `mode`?");
    check(&home, &["allow", "Bash(git push"], 1, "`Bash(git push`: ");
}

#[test]
fn only_what_loosens_needs_a_person() {
    let home = home("# mine\nask_wait = 5 # seconds\n");
    let refused = "error: ";
    check(&home, &["config", "set", "ask_wait", "120"], 4, refused);
    check(&home, &["config", "set", "mode", "monitor"], 4, refused);
    check(&home, &["config", "set", "presence_check", "pin"], 4, refused);
    check(&home, &["config", "set", "packs.git", "off"], 4, refused);
    // It tightens, but a person reads this text at each question.
    check(&home, &["config", "set", "deny", "['Bash(a)', 'Bash(b)']"], 4, refused);
    check(&home, &["config", "set", "opaque", "deny"], 0, "+opaque = \"deny\"\n");
    check(&home, &["config", "unset", "opaque"], 4, refused);
    check(&home, &["config", "set", "level.session", "read-only"], 0, "+session = \"read-only\"\n");
    check(&home, &["config", "set", "profile", "strict"], 0, "config unset profile\n");
    check(&home, &["config", "unset", "profile"], 4, refused);
    assert_eq!(run(&home, &["config", "set", "profile", "strict"]).stdout, "`profile` is strict already\n");

    let Some(done) = run_as_person(&home, &["config", "set", "ask_wait", "120", "--yes"]) else { return };
    assert_eq!(done.code, Some(0), "{done:?}");
    insta::assert_snapshot!("config_set", home.masked(&done.stdout));
    let text = config(&home);
    assert!(text.contains("# mine\nask_wait = 120 # seconds\n"), "{text}");
    let done = run_as_person(&home, &["config", "unset", "ask_wait", "--yes"]).unwrap();
    insta::assert_snapshot!("config_unset", home.masked(&done.stdout));
    assert!(!config(&home).contains("ask_wait"));
    let done = run_as_person(&home, &["config", "set", "log.notable_days", "30", "-y"]).unwrap();
    assert!(done.stdout.contains("from the next start on: `castellan restart`"), "{done:?}");
    let done = run_as_person(&home, &["config", "set", "mode", "monitor"]).unwrap();
    assert_eq!(done.stdout, "the mode is monitor now; it was enforce\n");
}

/// An edit by hand is put in force by `castellan apply` alone.
#[test]
fn edits_that_wait_keep_waiting() {
    let home = home("deny = [\n  'Bash(a)', # a\n]\n");
    home.write("h/config/config.toml", "version = 1\nmode = 'monitor'\ndeny = [\n  'Bash(a)', # a\n]\n");
    let words = ["config", "set", "deny", "['Bash(a)', 'Bash(b)']", "--yes"];
    let Some(done) = run_as_person(&home, &words) else { return };
    assert_eq!(done.code, Some(0), "{done:?}");
    assert!(
        done.stdout.contains("`config.toml` has other edits that wait for `castellan apply`"),
        "{done:?}"
    );
    assert_eq!(run(&home, &["mode"]).stdout, "enforce\n");
    assert_eq!(config(&home), "version = 1\nmode = 'monitor'\ndeny = ['Bash(a)', 'Bash(b)']\n");
    // A file that cannot be read is not replaced.
    home.write("h/config/config.toml", "version = \n");
    let failed = run(&home, &["config", "set", "profile", "strict"]);
    assert_eq!((failed.code, config(&home).as_str()), (Some(7), "version = \n"), "{failed:?}");
}

#[test]
fn without_a_daemon_nothing_is_changed() {
    let home = Home::new();
    home.write("h/config/config.toml", "version = 1\n");
    for words in
        [&["allow", "Bash(a)"][..], &["config", "set", "ask_wait", "5"], &["config", "unset", "deny"]]
    {
        check(&home, words, 3, "the daemon is not running");
    }
}
