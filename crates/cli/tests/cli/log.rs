//! `castellan log`, on a log written with the daemon's own log crate.

use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};
use std::time::SystemTime;

use castellan_audit::{
    CallRecord, Config, ControlRecord, FindingRecord, Log, MarkRecord, Record, SessionRecord,
};
use serde_json::{Value as Json, json};

use crate::home::Home;
use crate::records::{NOON, write_log};

fn call(verdict: &str, agent: &str, tool: &str, input: Json, rule: &str) -> Record {
    let finding = FindingRecord {
        verdict: verdict.into(),
        code: "deny_rule".into(),
        rule: rule.into(),
        layer: "user".into(),
        rows: "0".into(),
        lifted: String::new(),
        message: "why".into(),
    };
    let findings = if rule.is_empty() { Vec::new() } else { vec![finding] };
    Record::Call(CallRecord {
        request: if verdict == "deny" { "K7" } else { "" }.into(),
        agent: agent.into(),
        session_id: format!("session of {agent}").into(),
        tool: tool.into(),
        verdict: verdict.into(),
        answer: verdict.into(),
        enforced: agent == "codex",
        findings,
        input: input.into(),
        ..CallRecord::default()
    })
}

fn home() -> Home {
    let home = Home::new();
    let records = [
        call("deny", "codex", "Bash", json!({ "command": "rm -rf \u{1b}[2J /" }), "Deny deleting"),
        call("defer", "claude_code", "Bash", json!({ "command": "ls" }), ""),
        call("ask", "claude_code", "WebFetch", json!({ "url": "http://x" }), "Ask about the web"),
        Record::Control(ControlRecord {
            action: "mode".into(),
            argument: "monitor".into(),
            message: "this needs a person at a terminal".into(),
            peer_pid: 7,
            ..ControlRecord::default()
        }),
    ];
    write_log(&home, "h", NOON, &records);
    home
}

fn of_call(record: Record) -> CallRecord {
    let Record::Call(call) = record else { panic!("no call: {record:?}") };
    call
}

/// Adds records, one minute apart, after those of [`home`].
fn append(home: &Home, records: &[Record]) {
    write_log(home, "h", NOON + 10 * 60, records);
}

fn log(home: &Home, arguments: &[&str]) -> crate::home::Done {
    let dir = home.path("h").display().to_string();
    home.run(&[&["--home", &dir, "log"], arguments].concat())
}

#[test]
fn filters() {
    let home = home();
    let check = |arguments: &[&str], expected: &[u64]| {
        let done = log(&home, &[&["--json"], arguments].concat());
        assert_eq!(done.code, Some(0), "{done:?}");
        let lines = done.stdout.lines().map(|line| serde_json::from_str::<Json>(line).unwrap());
        let seqs: Vec<u64> = lines.map(|line| line["seq"].as_u64().unwrap()).collect();
        assert_eq!(seqs, expected, "{arguments:?}");
    };
    check(&[], &[1, 2, 3, 4]);
    check(&["-n", "2"], &[3, 4]);
    check(&["--verdict", "deny"], &[1]);
    check(&["--agent", "claude"], &[2, 3]);
    check(&["--agent", "codex", "--verdict", "ask"], &[]);
    check(&["--session", "session of codex"], &[1]);
    check(&["--rule", "web"], &[3]);
    check(&["--tool", "Bash"], &[1, 2]);
    check(&["--request", "K7"], &[1]);
    check(&["--since", "2026-01-31T12:01:00Z"], &[2, 3, 4]);
    check(&["--until", "2026-01-31T12:01:00Z"], &[1]);
    check(&["--since", "1s"], &[]);
    check(&["--until", "2026-02-01"], &[1, 2, 3, 4]);
    check(&["--since", "2026-01-31 12:02"], &[3, 4]);
    check(&["--tool", "bash", "--rule", "DENY"], &[1]);
    check(&["--request", "k7"], &[1]);
    check(&["--session", "Session of Codex"], &[1]);
    check(&["--agent", "CODEX", "--verdict", "Deny"], &[1]);
}

/// Times without a zone are those of the machine, in options and in the table.
#[test]
fn times_are_local() {
    let home = home().with_variable("TZ", "IST-5:30".into());
    let shown = log(&home, &["--since", "2026-01-31 17:32", "--until", "2026-01-31 17:33"]).stdout;
    assert!(shown.starts_with("2026-01-31 17:32:00 +05:30  (ask)"), "{shown}");
    assert_eq!(shown.lines().count(), 1, "{shown}");
}

/// The columns of a line depend on the width: 60, 80 and 120 columns, and the default of other output.
#[test]
fn people_get_a_table() {
    let long = CallRecord {
        request: "Z11".into(),
        enforced: true,
        verdict: "ask".into(),
        input:
            json!({ "command": "git push --force-with-lease origin topic/字字字 && git -C ../other push" })
                .into(),
        ..of_call(call("ask", "claude_code", "Bash", json!({}), "Ask before overwriting a remote branch"))
    };
    let done = SessionRecord {
        event: "PostToolUse".into(),
        agent: "claude_code".into(),
        tool: "Bash".into(),
        use_id: "toolu_1".into(),
        ..SessionRecord::default()
    };
    let trust = SessionRecord { message: "trust_required /w/app".into(), tool: "".into(), ..done.clone() };
    for columns in ["piped", "60", "80", "120"] {
        let home = home().with_variable("COLUMNS", columns.into());
        append(
            &home,
            &[Record::Call(long.clone()), Record::Session(done.clone()), Record::Session(trust.clone())],
        );
        let shown = log(&home, &[]).stdout;
        let limit = columns.parse().unwrap_or(160);
        assert!(shown.lines().all(|line| unicode_width::UnicodeWidthStr::width(line) <= limit), "{shown}");
        insta::assert_snapshot!(format!("log_table_{columns}"), shown);
        insta::assert_snapshot!(format!("log_details_{columns}"), log(&home, &["-v", "-n", "3"]).stdout);
    }
    let home = home();
    append(&home, &[Record::Session(done), Record::Session(trust)]);
    let shown = log(&home, &["--events", "-n", "2"]).stdout;
    assert!(shown.contains("PostToolUse toolu_1") && shown.contains("trust_required /w/app"), "{shown}");
    let shown = log(&home, &["-n", "1"]).stdout;
    assert!(shown.contains("trust_required /w/app"), "{shown}");
    assert_eq!(log(&home, &["--json"]).stdout.lines().count(), 6);
    let none = log(&home, &["--verdict", "allow"]);
    assert_eq!((none.code, none.stdout.as_str()), (Some(0), ""));
    assert_eq!(home.masked(&none.stderr), "note: no such record in ROOT/h/state/log\n");
}

/// A terminal gets the log by a pager, in its own width and with colours.
#[test]
fn a_pager_shows_the_log_on_a_terminal() {
    let check = |variables: &[(&'static str, &str)], arguments: &[&str], expected: &str| {
        let mut home = home();
        for (name, value) in variables {
            home = home.with_variable(name, value.into());
        }
        let dir = home.path("h").display().to_string();
        let line = [&["--home", &dir, "log", "-n", "1", "--verdict", "defer"], arguments].concat();
        let Some(done) = home.run_on_screen(60, &line) else { return };
        assert_eq!(done.stdout, expected, "{variables:?} {arguments:?}");
        assert_eq!(done.code, Some(if expected.starts_with("error") { 7 } else { 0 }), "{done:?}");
    };
    let line = "01-31 12:01  agent decides       ls\n";
    let paged = "paged: 01-31 12:01  agent decides       ls\n";
    let mark = ("CASTELLAN_PAGER", "sed 's/^/paged: /'");
    let plain = ("NO_COLOR", "1");
    check(&[mark, plain], &[], paged);
    check(&[("PAGER", mark.1), plain], &[], paged);
    check(&[mark, ("PAGER", "false"), plain], &[], paged);
    check(&[mark, plain], &["--no-pager"], line);
    check(&[("PAGER", ""), plain], &[], line);
    check(&[("PAGER", "cat"), plain], &[], line);
    check(&[("PAGER", "true"), plain], &[], "");
    let missing = "error: the pager `no-such-pager -x` cannot be run; `--no-pager` does without one\n";
    check(
        &[("PAGER", "no-such-pager -x 2> /dev/null"), plain],
        &[],
        &missing.replace("-x", "-x 2> /dev/null"),
    );
    // Colours pass, unless they are switched off. `less` of the machine, if there is one, ends by itself.
    let shown = |variable: (&'static str, &str), arguments: &[&str]| {
        let home = home().with_variable(variable.0, variable.1.into()).with_variable("TERM", "xterm".into());
        let dir = home.path("h").display().to_string();
        home.run_on_screen(60, &[&["--home", &dir, "log"], arguments].concat())
    };
    for (variable, arguments, expected) in [
        (mark, &[][..], "paged: \u{1b}[2m01-31 12:01"),
        (mark, &["--color", "never"], "paged: 01-31 12:01"),
        (plain, &[], "01-31 12:01"),
    ] {
        if let Some(done) = shown(variable, arguments) {
            assert!(done.stdout.contains(expected), "{variable:?} {arguments:?}: {done:?}");
        }
    }
}

#[test]
fn colours_are_as_the_option_says() {
    let check = |home: &Home, arguments: &[&str], expected: bool| {
        let done = log(home, arguments);
        assert_eq!(done.stdout.contains("\u{1b}["), expected, "{arguments:?}: {done:?}");
    };
    let plain = home();
    check(&plain, &[], false);
    check(&plain, &["--color", "always"], true);
    check(&plain, &["--color", "never"], false);
    let without = home().with_variable("NO_COLOR", "1".into());
    check(&without, &["--color", "auto"], false);
    check(&without, &["--color", "always"], true);
    let forced = home().with_variable("CLICOLOR_FORCE", "1".into());
    check(&forced, &[], true);
    check(&forced, &["--color", "never"], false);
}

/// Checks the end of a record's output without and with `--verbose`.
fn check_line(record: &Record, short: &str, verbose: &str) {
    let home = Home::new();
    write_log(&home, "h", 0, std::slice::from_ref(record));
    let dir = home.path("h").display().to_string();
    for (arguments, expected) in [(&["log"][..], short), (&["log", "--verbose"], verbose)] {
        let done = home.run(&[&["--home", &dir], arguments].concat());
        assert!(done.stdout.trim_end().ends_with(expected), "{arguments:?}: {}", done.stdout);
    }
}

#[test]
fn whose_rules_what_marks_and_which_files() {
    let mut own = of_call(call("deny", "codex", "Bash", json!({ "command": "ls" }), "Deny it"));
    let line = "deny           K7   codex      Bash         ls  Deny it";
    check_line(&Record::Call(own.clone()), line, "deny  K7  codex  Bash\n    ls\n    Deny it (user)");
    own.findings[0].layer = "organisation".into();
    check_line(&Record::Call(own), "ls  Deny it (organisation)", "    ls\n    Deny it (organisation)");
    let mark = |label: &str| MarkRecord { label: label.into() };
    let marking =
        CallRecord { marks: vec![mark("a"), mark("b")], verdict: "defer".into(), ..Default::default() };
    check_line(&Record::Call(marking), "null  marks a, b", "    null\n    marks a, b");
    let (old, new) = ("0123456789abcdef".repeat(4), "fedcba9876543210".repeat(4));
    let argument = format!("policy {old} -> {new}, mode enforce -> monitor");
    let apply = ControlRecord {
        action: "apply".into(),
        argument: argument.into(),
        accepted: true,
        peer_pid: 7,
        ..Default::default()
    };
    check_line(
        &Record::Control(apply),
        "apply policy 0123456789ab… -> fedcba987654…, mode enforce -> monitor by process 7",
        &format!("    apply policy {old} -> {new}, mode\n    enforce -> monitor by process 7"),
    );
}

#[test]
fn json_is_the_record_as_it_stands() {
    let home = home();
    let done = log(&home, &["--json", "--verdict", "deny"]);
    let stored = home.read("h/state/log/notable.jsonl");
    assert!(stored.lines().any(|line| line == done.stdout.trim_end()), "{}", done.stdout);
}

#[test]
fn a_changed_record_is_found() {
    let home = home();
    let good = log(&home, &["verify"]);
    assert_eq!(good.code, Some(0), "{good:?}");
    assert!(good.stdout.contains("the chains hold"), "{}", good.stdout);

    let file = "h/state/log/notable.jsonl";
    let changed = home.read(file).replace("\"verdict\":\"deny\"", "\"verdict\":\"ask!\"");
    home.write(file, changed);
    let broken = log(&home, &["verify"]);
    assert_eq!(broken.code, Some(1), "{broken:?}");
    assert!(broken.stdout.contains("error: notable.jsonl:"), "{}", broken.stdout);
    let json: Json = serde_json::from_str(&log(&home, &["verify", "--json"]).stdout).unwrap();
    assert_eq!(json["ok"], json!(false));
}

#[test]
fn following_shows_what_comes_and_ends_with_its_reader() {
    let home = home();
    let mut follow = Command::new(home.bin().join("castellan"));
    follow.arg("--home").arg(home.path("h")).args(["log", "-f", "-n", "1", "--json"]);
    let mut follow = follow.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(follow.stdout.take().unwrap()).lines();
    let mut next = || serde_json::from_str::<Json>(&lines.next().unwrap().unwrap()).unwrap();
    assert_eq!(next()["seq"], json!(4));

    let log = Log::open(&home.path("h/state/log"), Config::default(), SystemTime::now()).unwrap();
    log.append(&call("deny", "codex", "Bash", json!({}), ""), SystemTime::now()).unwrap();
    assert_eq!(next()["seq"], json!(5));
    drop(lines);
    let done = follow.wait_with_output().unwrap();
    assert_eq!((done.status.code(), String::from_utf8(done.stderr).unwrap()), (Some(0), String::new()));
}
