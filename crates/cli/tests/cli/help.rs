//! Help texts, man pages, completions and usage errors.

use crate::home::Home;

const COMMANDS: &[&str] = &[
    "",
    "install",
    "import",
    "import kit",
    "uninstall",
    "start",
    "stop",
    "restart",
    "status",
    "mode",
    "profile",
    "packs",
    "apply",
    "allow",
    "approve",
    "pending",
    "refuse",
    "trust",
    "presence",
    "presence set-pin",
    "check",
    "explain",
    "log",
    "log verify",
    "why",
    "report",
    "suggest",
    "replay",
    "settings",
    "settings render",
    "agents",
    "doctor",
    "support",
    "bench",
    "bench accuracy",
    "config",
    "config show",
    "config check",
    "config schema",
    "config set",
    "config unset",
    "run",
    "ci",
    "rules",
    "rules validate",
    "rules test",
    "rules new",
    "rules import",
    "rules list",
    "rules describe",
    "rules eval",
    "rules export",
    "rules fields",
    "daemon",
    "completions",
    "man",
];

#[test]
fn help_of_every_subcommand() {
    let home = Home::new();
    for command in COMMANDS {
        let mut words: Vec<&str> = command.split_whitespace().collect();
        words.push("--help");
        let name =
            if command.is_empty() { "help".to_owned() } else { format!("help {command}").replace(' ', "_") };
        insta::assert_snapshot!(name, home.run_ok(&words));
    }
}

#[test]
fn every_subcommand_has_a_man_page_and_completions() {
    let home = Home::new();
    home.run_ok(&["man", "man"]);
    for command in COMMANDS {
        let name = format!("castellan {command}").trim().replace(' ', "-");
        let page = home.read(&format!("repo/man/{name}.1"));
        assert!(page.contains(".SH NAME"), "{name}");
    }
    for shell in ["bash", "zsh", "fish"] {
        let text = home.run_ok(&["completions", shell]);
        assert!(text.contains("uninstall") && text.contains("passthrough"), "{shell}");
    }
}

#[test]
fn a_wrong_command_line_is_said_so() {
    let home = Home::new();
    let check = |arguments: &[&str], part: &str| {
        let done = home.run(arguments);
        assert_eq!(done.code, Some(2), "{arguments:?}");
        assert!(done.stderr.contains(part), "{arguments:?}: {}", done.stderr);
    };
    check(&[], "Usage: castellan");
    check(&["chekc"], "a similar subcommand exists: 'check'");
    check(&["mode", "enforced"], "possible values: passthrough, monitor, enforce");
    check(&["install", "cursor"], "possible values: claude, codex, gemini, qwen");
    check(&["check"], "required");
    check(&["check", "--file", "/etc/passwd"], "--tool");
    check(
        &["log", "--since", "tomorrow"],
        "`tomorrow` is no time: write `2h`, `today`, `yesterday`, `2026-11-20`",
    );
    check(&["status", "-q", "-v"], "cannot be used with");
}

#[test]
fn a_reader_that_goes_away_is_no_failure() {
    use std::process::{Command, Stdio};

    let home = Home::new();
    let mut fields = Command::new(home.bin().join("castellan"));
    let mut fields =
        fields.args(["rules", "fields"]).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    drop(fields.stdout.take());
    let done = fields.wait_with_output().unwrap();
    assert_eq!((done.status.code(), done.stderr), (Some(0), Vec::new()));
}
