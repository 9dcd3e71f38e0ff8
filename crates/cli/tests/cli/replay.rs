//! `castellan replay`, on a log written with the daemon's log crate. Tests of real daemons' logs are in `tests/`.

use std::fs;

use castellan_audit::{GapRecord, Record};
use serde_json::{Value as Json, json};

use crate::home::{Done, Home};
use crate::records::{self, NOON, write_log};

/// Denies a command that no shipped rule matches.
const MINE: &str = r#"- rule: Deny the frobnicator
  desc: No.
  condition: cmd.name = frobnicate
  output: Nobody frobnicates here
  priority: CRITICAL
  source: coding_agent
  tags: [coding_agent_deny]

- rule: Ask before word counts
  desc: Hm.
  condition: cmd.name = wc
  output: Counting is asked about
  priority: WARNING
  source: coding_agent
  tags: [coding_agent_ask]
"#;

fn call(command: &str, verdict: &str) -> Record {
    Record::Call(records::call(command, verdict))
}

/// Returns a home without rules and with a log of these records.
fn home(records: &[Record]) -> Home {
    let home = Home::new();
    write_log(&home, "h", NOON, records);
    home.write("repo/mine.yaml", MINE);
    home
}

fn replay(home: &Home, arguments: &[&str]) -> Done {
    let dir = home.path("h").display().to_string();
    home.run(&[&["--home", &dir, "replay"], arguments].concat())
}

fn json_of(home: &Home, arguments: &[&str]) -> (Option<i32>, Json) {
    let done = replay(home, &[&["--json"], arguments].concat());
    (done.code, serde_json::from_str(&done.stdout).unwrap_or_else(|error| panic!("{error}: {done:?}")))
}

fn usual() -> Vec<Record> {
    vec![
        call("frobnicate --all", "defer"),
        call("ls", "defer"),
        call("wc -l README.md", "defer"),
        call("frobnicate; frobnicate", "defer"),
        call("cargo test", "deny"),
    ]
}

#[test]
fn what_new_rules_would_change_is_grouped() {
    let home = home(&usual());
    let done = replay(&home, &["--rules", "mine.yaml"]);
    assert_eq!(done.code, Some(0), "{done:?}");
    insta::assert_snapshot!("replay", done.stdout);

    let (code, json) = json_of(&home, &["--rules", "mine.yaml"]);
    assert_eq!((code, &json["judged"], &json["beside"]), (Some(0), &json!(5), &json!("in_force")));
    let kinds: Vec<_> = json["changes"].as_array().unwrap().iter().collect();
    assert_eq!(kinds.len(), 2, "{json}");
    assert_eq!((&kinds[0]["kind"], &kinds[0]["calls"]), (&json!("newly_denied"), &json!(2)));
    let group = &kinds[0]["groups"][0];
    assert_eq!(group["by"], json!(["Deny the frobnicator"]));
    let example = &group["examples"][0];
    assert_eq!((&example["seq"], &example["subject"]), (&json!(1), &json!("frobnicate --all")));
    assert_eq!(
        (&example["before"]["verdict"], &example["after"]["verdict"]),
        (&json!("defer"), &json!("deny"))
    );
    assert_eq!((&kinds[1]["kind"], &kinds[1]["calls"]), (&json!("newly_asked"), &json!(1)));
}

#[test]
fn without_rules_what_was_recorded_is_compared() {
    let home = home(&usual());
    let (code, json) = json_of(&home, &[]);
    assert_eq!((code, &json["beside"]), (Some(0), &json!("recorded")));
    let changes = json["changes"].as_array().unwrap();
    assert_eq!(changes.len(), 1, "{json}");
    assert_eq!(changes[0]["kind"], json!("newly_let_through"));
    assert_eq!(changes[0]["groups"][0]["examples"][0]["subject"], json!("cargo test"));
}

#[test]
fn rules_stand_in_the_place_of_others_or_of_all() {
    let home = home(&[call("git push --force origin main", "ask"), call("frobnicate", "defer")]);
    let changed = |arguments: &[&str]| {
        let (code, json) = json_of(&home, arguments);
        assert_eq!(code, Some(0), "{json}");
        let kinds = json["changes"].as_array().unwrap().iter();
        kinds
            .map(|kind| (kind["kind"].as_str().unwrap().to_owned(), kind["calls"].as_u64().unwrap()))
            .collect()
    };
    let check = |arguments: &[&str], expected: &[(&str, u64)]| {
        let changed: Vec<(String, u64)> = changed(arguments);
        let expected: Vec<(String, u64)> =
            expected.iter().map(|(kind, calls)| ((*kind).to_owned(), *calls)).collect();
        assert_eq!(changed, expected, "{arguments:?}");
    };
    home.write("repo/10-git.yaml", MINE);
    fs::create_dir(home.path("repo/rules")).unwrap();
    home.write("repo/rules/mine.yaml", MINE);
    check(&["--rules", "mine.yaml"], &[("newly_denied", 1)]);
    check(&["--rules", "rules"], &[("newly_denied", 1)]);
    check(&["--rules", "10-git.yaml"], &[("newly_denied", 1), ("newly_let_through", 1)]);
    check(&["--rules", "mine.yaml", "--instead"], &[("newly_denied", 1), ("newly_let_through", 1)]);
    check(&["--profile", "observer"], &[("newly_denied", 2)]);
    check(&["--rules", "mine.yaml", "--since", "2026-01-31T12:01:00Z"], &[("newly_denied", 1)]);
    check(&["--rules", "mine.yaml", "--since", "2026-01-31T12:02:00Z"], &[]);
}

#[test]
fn what_the_log_does_not_hold_is_told_and_counted() {
    let gap = GapRecord { count: 3, message: "away".into(), ..GapRecord::default() };
    let home = home(&[
        call("ls", "defer"),
        call("frobnicate --token [redacted token]", "defer"),
        call("frobnicate …[cut 900 bytes]", "defer"),
        Record::Gap(gap),
        call("frobnicate", "defer"),
        call("ls", "defer"),
    ]);
    let file = "h/state/log/routine.jsonl";
    let text = home.read(file);
    let newer = text.lines().last().unwrap().replacen(r#"{"v":2"#, r#"{"v":9"#, 1);
    home.write(file, format!("{text}damage\n{newer}\n"));
    let done = replay(&home, &["--rules", "mine.yaml"]);
    assert_eq!(done.code, Some(6), "{done:?}");
    insta::assert_snapshot!("replay_missing", done.stdout);
    let (code, json) = json_of(&home, &["--rules", "mine.yaml"]);
    assert_eq!((code, &json["judged"]), (Some(6), &json!(3)));
    let not_judged =
        json!({ "redacted": 1, "cut": 1, "unknown_agent": 0, "no_call": 0, "unknown_verdict": 0 });
    assert_eq!(json["not_judged"], not_judged);
    assert_eq!((&json["log"]["unrecorded_events"], &json["log"]["records_missing"]), (&json!(3), &json!(0)));
    assert_eq!(json["log"]["unreadable"].as_array().map(Vec::len), Some(2), "{json}");
}

#[test]
fn records_that_are_gone_are_told() {
    let home = home(&usual());
    let file = "h/state/log/routine.jsonl";
    let text = home.read(file);
    let kept: Vec<&str> = text.lines().filter(|line| !line.contains(r#""seq":2,"#)).collect();
    home.write(file, kept.join("\n") + "\n");
    let (code, json) = json_of(&home, &["--rules", "mine.yaml"]);
    assert_eq!((code, &json["judged"], &json["log"]["records_missing"]), (Some(6), &json!(4), &json!(1)));
}

#[test]
fn the_newest_calls_are_judged() {
    let home = home(&usual());
    let (code, json) = json_of(&home, &["--rules", "mine.yaml", "--limit", "2"]);
    assert_eq!((code, &json["judged"], &json["log"]["calls_left_out"]), (Some(6), &json!(2), &json!(3)));
    assert_eq!(json["changes"][0]["groups"][0]["examples"][0]["subject"], json!("frobnicate; frobnicate"));
}

#[test]
fn without_a_log_or_sound_rules_nothing_is_judged() {
    let empty = Home::new();
    let none = replay(&empty, &[]);
    assert_eq!(none.code, Some(7), "{none:?}");
    assert!(none.stderr.contains("there is no log in `"), "{}", none.stderr);

    let home = home(&usual());
    home.write("repo/broken.yaml", MINE.replace("cmd.name = wc", "cmd.nme = wc"));
    let broken = replay(&home, &["--rules", "broken.yaml"]);
    assert_eq!((broken.code, broken.stdout.as_str()), (Some(1), ""), "{broken:?}");
    assert!(broken.stderr.contains("broken.yaml:11:"), "{}", broken.stderr);
    for (arguments, code) in
        [(&["--rules", "nothing.yaml"][..], 7), (&["--instead"], 2), (&["--since", "soon"], 2)]
    {
        assert_eq!(replay(&home, arguments).code, Some(code), "{arguments:?}");
    }
}

/// A replay only judges: the log and the rules stay unchanged, and no command runs.
#[test]
fn nothing_changes() {
    let home = home(&[call("touch ran", "defer"), call("frobnicate", "defer")]);
    let text = || {
        ["routine", "notable"].map(|stream| fs::read(home.path(&format!("h/state/log/{stream}.jsonl"))).ok())
    };
    let before = text();
    let entries = || fs::read_dir(home.path("h")).unwrap().count();
    let count = entries();
    assert_eq!(replay(&home, &["--rules", "mine.yaml"]).code, Some(0));
    assert_eq!((text(), entries()), (before, count));
    assert!(!home.path("repo/ran").exists());
}
