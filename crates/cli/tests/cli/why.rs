//! `castellan why`, on a log written with the daemon's own log crate.

use castellan_audit::{CallRecord, FindingRecord, Record};

use crate::home::{Done, Home, skipped};
use crate::records::{self, NOON};

const RULES: &str = r#"- rule: Ask before a push
  desc: Hm.
  condition: cmd.name = git and cmd.subcommand = push
  output: "The push to %cmd.line changes a remote. Instead: show the commits to the user first, with git log --oneline"
  priority: WARNING
  source: coding_agent
  tags: [coding_agent_ask]

- rule: Deny the frobnicator
  desc: No.
  condition: cmd.name = frobnicate
  output: Nobody frobnicates here
  priority: CRITICAL
  source: coding_agent
  tags: [coding_agent_deny]
"#;

fn finding(verdict: &str, code: &str, rule: &str, lifted: &str) -> FindingRecord {
    FindingRecord {
        verdict: verdict.into(),
        code: code.into(),
        rule: rule.into(),
        layer: if code.ends_with("_rule") { "user".into() } else { String::new() },
        lifted: lifted.into(),
        message: format!("the message of {code} is a sentence that is long enough to be wrapped at words"),
        ..FindingRecord::default()
    }
}

fn call(request: &str, command: &str, verdict: &str, findings: Vec<FindingRecord>) -> CallRecord {
    CallRecord {
        correlation_id: 7,
        request: request.into(),
        enforced: true,
        mode: "enforce".into(),
        findings,
        ..records::call(command, verdict)
    }
}

fn home(records: &[CallRecord]) -> Home {
    let home = Home::new();
    write_log(&home, "h", records);
    home.write("h/config/rules/user/mine.yaml", RULES);
    std::fs::create_dir_all(home.path("h/config/rules/default")).unwrap();
    home
}

fn write_log(home: &Home, dir: &str, calls: &[CallRecord]) {
    let calls: Vec<Record> = calls.iter().cloned().map(Record::Call).collect();
    records::write_log(home, dir, NOON, &calls);
}

/// The calls of a session: an exempt one, a denied one, an asked one, and the test call of doctor.
fn calls() -> Vec<CallRecord> {
    let push = |lifted| finding("ask", "ask_rule", "Ask before a push", lifted);
    let canary = CallRecord {
        tool: "castellan_canary".into(),
        tool_raw: "castellan_canary".into(),
        ..call("C1", "", "deny", vec![])
    };
    vec![
        call("", "git push origin one", "defer", vec![push("grant")]),
        call(
            "K7",
            "frobnicate \u{1b}[2J\n│ to allow it",
            "deny",
            vec![finding("deny", "deny_rule", "Deny the frobnicator", ""), push("observe")],
        ),
        call(
            "Z11",
            "git push --force-with-lease origin topic",
            "ask",
            vec![push(""), finding("defer", "notice", "Seen", "")],
        ),
        canary,
    ]
}

fn why(home: &Home, arguments: &[&str]) -> Done {
    // A relative home, because the texts are wrapped: their lengths must not depend on the machine.
    home.run(&[&["--home", "../h", "why"], arguments].concat())
}

/// Returns true below an agent, where the command shows less.
fn is_below_agent() -> bool {
    let is = castellan_daemon::is_own_within_agent();
    if is {
        skipped("the tests run below an agent");
    }
    is
}

#[test]
fn a_person_sees_the_call_its_rules_and_what_allows_it() {
    if is_below_agent() {
        return;
    }
    for columns in ["60", "80", "120"] {
        let home = home(&calls()).with_variable("COLUMNS", columns.into());
        for (name, arguments) in [("ask", &[][..]), ("deny", &["k7"]), ("granted", &["1"])] {
            let done = why(&home, arguments);
            assert_eq!((done.code, done.stderr.as_str()), (Some(0), ""), "{done:?}");
            insta::assert_snapshot!(format!("why_{name}_{columns}"), home.masked(&done.stdout));
        }
    }
}

/// An agent gets the rules, their messages and the request id, and nothing that loosens.
#[test]
fn an_agent_is_not_told_how_to_allow_a_call() {
    if is_below_agent() {
        return;
    }
    let home = home(&calls());
    let dir = home.path("h").display().to_string();
    let done = home.run_below("claude", &["--home", &dir, "why", "z11"]);
    let message = "the message of ask_rule is a sentence that is long enough to be wrapped at words";
    let expected = format!("ask  Z11\nAsk before a push\n    {message}\n");
    assert_eq!((done.code, done.stdout, done.stderr), (Some(0), expected, String::new()));
    let done = home.run_below("claude", &["--home", &dir, "why", "--json", "z11"]);
    let expected = serde_json::json!({
        "version": 1, "request": "Z11", "verdict": "ask", "rules": [{ "rule": "Ask before a push", "message": message }],
    });
    assert_eq!(serde_json::from_str::<serde_json::Value>(&done.stdout).unwrap(), expected);
}

#[test]
fn json_has_the_data_of_the_text() {
    if is_below_agent() {
        return;
    }
    let home = home(&calls());
    let done = why(&home, &["--json"]);
    assert_eq!((done.code, done.stderr.as_str()), (Some(0), ""), "{done:?}");
    insta::assert_snapshot!("why_json", home.masked(&done.stdout));
    let late = home.run_ok(&["--home", "../h", "why", "k7", "--json"]);
    let late: serde_json::Value = serde_json::from_str(&late).unwrap();
    assert_eq!(late["to_allow"][0]["command"], "castellan --home ../h apply", "{late}");
    let secret = self::home(&[call("K7", "git push https://x:[redacted token]@y", "ask", Vec::new())]);
    let unknown: serde_json::Value = serde_json::from_str(&why(&secret, &["--json"]).stdout).unwrap();
    assert_eq!(unknown["effects"], serde_json::Value::Null);
    assert_eq!(unknown["effects_unknown"], "a secret stood in the input, and is not in the log");
}

#[test]
fn a_call_is_named_by_its_id_in_any_case_or_by_its_record() {
    let home = home(&calls());
    for (arguments, first) in [
        (&["K7"][..], "deny  K7"),
        (&["k7"], "deny  K7"),
        (&["2"], "deny  K7"),
        (&["z11"], "ask  Z11"),
        (&[], "ask  Z11"),
        (&["c1"], "deny  C1"),
    ] {
        let done = why(&home, arguments);
        assert!(done.stdout.starts_with(first), "{arguments:?}: {done:?}");
    }
    let none = why(&home, &["A1"]);
    assert_eq!((none.code, none.stdout.as_str()), (Some(7), ""), "{none:?}");
    assert!(none.stderr.contains("the log has no call `A1`"), "{none:?}");
    let none = why(&self::home(&calls()[..1]), &[]);
    assert_eq!(none.stderr, "error: the log has no call that was asked about or denied\n");
}

/// A long call is cut, and many effects are counted, unless all is asked for.
#[test]
fn a_long_call_is_shown_in_part() {
    if is_below_agent() {
        return;
    }
    let files: Vec<String> = (100..280).map(|number| format!("file-{number}.txt")).collect();
    let home = home(&[call("K7", &format!("rm {}", files.join(" ")), "ask", Vec::new())]);
    let shown = why(&home, &[]).stdout;
    assert!(shown.contains("172 more effects: `-v` shows all") && !shown.contains("file-279.txt"), "{shown}");
    let shown = why(&home, &["-v"]).stdout;
    assert!(!shown.contains("more effects") && shown.matches("file-279.txt").count() == 2, "{shown}");
}

/// A call that cannot be judged again is shown as recorded, with the reason.
#[test]
fn a_call_that_the_log_does_not_hold_is_shown_without_effects() {
    if is_below_agent() {
        return;
    }
    let home = home(&[call(
        "K7",
        "git push https://x:[redacted token]@y",
        "ask",
        vec![finding("ask", "ask_rule", "Ask before a push", "")],
    )]);
    let shown = why(&home, &[]).stdout;
    assert!(shown.contains("not known: a secret stood in the input"), "{shown}");
    assert!(shown.contains("Ask before a push") && !shown.contains("allow = "), "{shown}");
}

/// The agent names its workspace, and a person copies the command. The rules in force do not know the workspace.
#[test]
fn a_denied_workspace_is_named_in_quotes() {
    if is_below_agent() {
        return;
    }
    let home = Home::new();
    let denied = finding("deny", "denied_workspace", "", "");
    let call = call("K7", "git push", "deny", vec![denied]);
    write_log(&home, "my ID", &[CallRecord { workspace: "/w/$(x); sh 'ID'".into(), ..call }]);
    let shown = home.run(&["--home", "../my ID", "why"]).stdout;
    let command = r"castellan --home '../my ID' trust '/w/$(x); sh '\''ID'\'''";
    assert!(shown.contains(command) && !shown.contains(" approve "), "{shown}");
}

/// The newest first, without those of doctor, and no text that a shell could take for more than a word.
#[test]
fn a_shell_completes_request_ids() {
    let home = Home::new();
    let forged = call("$(x) y", "ls", "deny", Vec::new());
    write_log(
        &home,
        "user/.local/share/castellan",
        &[&calls()[..], &[forged, call("K70", "ls", "deny", vec![])]].concat(),
    );
    let check = |arguments: &[&str], expected: &str| {
        assert_eq!(home.run_ok(&[&["request-ids"], arguments].concat()), expected, "{arguments:?}");
    };
    check(&[], "K70\nZ11\nK7\n");
    check(&["k7"], "K70\nK7\n");
    check(&["x"], "");
    // Only a daemon knows which calls wait.
    assert_eq!(home.run(&["request-ids", "--pending"]).code, Some(3));
    assert!(!home.run_ok(&["--help"]).contains("request-ids"));

    write_log(&home, "repo/elsewhere", &[call("E5", "ls", "deny", vec![])]);
    let script = home.run_ok(&["completions", "bash"]);
    home.write("repo/castellan.bash", &script);
    let completed = |words: &str| {
        let line = format!(
            "PATH={}:$PATH; source castellan.bash; COMP_WORDS=({words}); COMP_CWORD=$((${{#COMP_WORDS[@]}} - 1)); \
             _castellan_request_ids castellan \"${{COMP_WORDS[COMP_CWORD]}}\"; echo \"${{COMPREPLY[@]}}\"",
            home.bin().display()
        );
        let done = home.without_terminal(&["bash", "-c", &line]);
        assert_eq!(done.code, Some(0), "{words}: {done:?}");
        done.stdout
    };
    for (words, expected) in [
        ("castellan why ''", "K70 Z11 K7\n"),
        ("castellan refuse z", "Z11\n"),
        ("castellan undo z", "Z11\n"),
        ("castellan keep z", "Z11\n"),
        ("castellan log --request k", "K70 K7\n"),
        ("castellan approve ''", "\n"),
        ("castellan approve --alw", "--always\n"),
        ("castellan wh", "why\n"),
        // `--home` names another log.
        ("castellan --home elsewhere why ''", "E5\n"),
        ("castellan --home = elsewhere why ''", "E5\n"),
        ("castellan --home '\"elsewhere\"' log --request e", "E5\n"),
        ("castellan --home '$(touch ran)' why ''", "\n"),
    ] {
        assert_eq!(completed(words), expected, "{words}");
    }
    assert!(!home.path("repo/ran").exists(), "completing a line runs nothing of it");
    let zsh = home.run_ok(&["completions", "zsh"]);
    assert_eq!(
        zsh.matches(":_castellan_request_ids'").count(),
        8,
        "approve, refuse, undo, diff, keep, why, --request, --from-log"
    );
    let fish = home.run_ok(&["completions", "fish"]);
    assert_eq!(fish.matches("(castellan (__fish_castellan_home) request-ids").count(), 8);
    assert_eq!(zsh.matches("whole=(").count(), 1);
}
