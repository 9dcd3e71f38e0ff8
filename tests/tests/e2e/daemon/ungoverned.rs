//! castellan detects calls that bypass it (by the agent's transcript) and changes of settings. The test plays the
//! agent.

use std::fs::{self, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};

use castellan_agents::{AgentId, HookCommand, register};
use castellan_tests::home::Home;
use castellan_tests::hook::{ENFORCE, bash, judge, understood};
use castellan_tests::process::Running;
use castellan_tests::wait::until;
use serde_json::{Value as Json, json};

use super::{LIMIT, kill, status};

/// More than the limits of transcripts of one session and of calls followed at once.
const MANY: usize = 300;

/// A session of Claude Code with a transcript that the test writes.
struct Session {
    home: Home,
    transcript: PathBuf,
}

impl Session {
    fn new(name: &str, config: &str) -> anyhow::Result<Session> {
        let home = Home::with_castellan(name, config, "")?;
        let transcript = home.user().join("t.jsonl");
        fs::write(&transcript, "")?;
        Ok(Session { home, transcript })
    }

    /// Asks about a call as the agent.
    fn ask(&self, id: &str, command: &str) -> anyhow::Result<String> {
        let mut call = bash(command);
        call["transcript_path"] = self.transcript.display().to_string().into();
        call["cwd"] = self.home.workspace().display().to_string().into();
        call["tool_use_id"] = id.into();
        Ok(understood(&judge(&self.home, &call)?))
    }

    /// Writes an agent's transcript of a call that ran.
    fn write(&self, transcript: &Path, id: &str) -> anyhow::Result<()> {
        append(transcript, &[begun(id), ended(id, "accept")])
    }

    fn ungoverned(&self) -> anyhow::Result<Vec<Json>> {
        let records = self.home.records()?.into_iter();
        Ok(records.map(|record| record["ungoverned"].clone()).filter(Json::is_object).collect())
    }

    /// Waits for the record of a call, or of a change of settings, with this reason.
    fn waits_for(&self, id: &str, why: &str) -> anyhow::Result<Json> {
        let is_it = |record: &Json| record["use_id"] == id && record["why"] == why;
        let found = until(LIMIT, || Ok(self.ungoverned()?.into_iter().find(is_it)))?;
        found.ok_or_else(|| anyhow::anyhow!("no {why} of {id:?}: {:?}", self.ungoverned()))
    }

    /// Returns the codes of the findings about a call.
    fn codes(&self, id: &str) -> anyhow::Result<Vec<String>> {
        let calls = self.home.records()?;
        let call = calls.iter().map(|record| &record["call"]).find(|call| call["use_id"] == id);
        let findings = call.and_then(|call| call["findings"].as_array()).into_iter().flatten();
        Ok(findings.filter_map(|finding| Some(finding["code"].as_str()?.to_owned())).collect())
    }

    fn failures(&self) -> anyhow::Result<Vec<String>> {
        let records =
            self.home.records()?.into_iter().filter(|record| record["failure"]["code"] == "transcript");
        Ok(records
            .map(|record| record["failure"]["message"].as_str().unwrap_or_default().to_owned())
            .collect())
    }
}

/// A foreign hook.
const OTHER: &str = r#"{"hooks":{"PreToolUse":[{"hooks":[{"type":"command","command":"/x/rewrite"}]}]}}"#;

/// Returns an agent's transcript line of a call before the question.
fn begun(id: &str) -> Json {
    let block = json!({ "type": "tool_use", "id": id, "name": "Bash", "input": { "command": "true" } });
    json!({ "type": "assistant", "message": { "content": [block] } })
}

/// Returns an agent's transcript line of a finished call, with its decision.
fn ended(id: &str, decision: &str) -> Json {
    let block = json!({ "type": "tool_result", "tool_use_id": id, "content": "" });
    json!({ "type": "user", "message": { "content": [block] }, "permissionDecision": { "decision": decision } })
}

fn append(transcript: &Path, lines: &[Json]) -> anyhow::Result<()> {
    let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
    let mut file = OpenOptions::new().append(true).create(true).open(transcript)?;
    Ok(file.write_all(text.as_bytes())?)
}

#[test]
fn a_call_that_nobody_asked_about_is_seen_in_the_transcript() -> anyhow::Result<()> {
    let session = Session::new("transcript", ENFORCE)?;
    // Calls before the session are not castellan's.
    session.write(&session.transcript, "before")?;
    assert_eq!(session.ask("asked", "true")?, "defer");
    session.write(&session.transcript, "asked")?;
    session.write(&session.transcript, "not asked")?;
    let record = session.waits_for("not asked", "no_decision")?;
    assert_eq!(record["seen"], "transcript");
    assert_eq!(record["tool"], "Bash");
    assert_eq!(record["input"], json!({ "command": "true" }));
    assert_eq!(record["file"], session.transcript.display().to_string());

    // A sub-agent has its own transcript.
    let folder = session.home.user().join("t/subagents");
    fs::create_dir_all(&folder)?;
    session.write(&folder.join("agent-a1.jsonl"), "of a sub-agent")?;
    assert_eq!(session.waits_for("of a sub-agent", "no_decision")?["subagent_id"], "a1");

    // A truncated transcript is read from its start; judged calls stay judged.
    fs::write(&session.transcript, "")?;
    session.write(&session.transcript, "asked")?;
    session.write(&session.transcript, "cut")?;
    // The daemon must see the transcript while it is shorter than before.
    session.waits_for("cut", "no_decision")?;
    // After a truncation, calls before the session are not castellan's either. A call that did not run is not reported.
    let mut before = [begun("long ago"), ended("long ago", "accept")];
    before.iter_mut().for_each(|line| line["timestamp"] = "2001-02-03T04:05:06.000Z".into());
    append(&session.transcript, &before)?;
    append(&session.transcript, &[begun("refused"), ended("refused", "reject")])?;
    session.write(&session.transcript, "after the cut")?;
    session.waits_for("after the cut", "no_decision")?;
    let ids: Vec<_> = session.ungoverned()?.iter().map(|record| record["use_id"].clone()).collect();
    assert_eq!(ids, ["not asked", "of a sub-agent", "cut", "after the cut"]);
    assert_eq!(status(&session.home)["ungoverned"], 4);
    let shown = session.home.run_castellan(&["log"])?.stdout;
    assert!(shown.contains("no_decision"), "{shown}");
    assert!(session.home.run_castellan(&["status"])?.stdout.contains("ungoverned"));
    Ok(())
}

/// An excess is reported once, and later lines are still read.
fn check_too_much(session: &Session, told: &str) -> anyhow::Result<()> {
    let is_reported = || Ok(session.failures()?.iter().any(|failure| failure.contains(told)).then_some(()));
    anyhow::ensure!(until(LIMIT, is_reported)?.is_some(), "{told}: {:?}", session.failures()?);
    session.write(&session.transcript, "not asked")?;
    session.waits_for("not asked", "no_decision")?;
    assert_eq!(session.failures()?.len(), 1, "{:?}", session.failures()?);
    Ok(())
}

#[test]
fn more_transcripts_than_are_read_are_told() -> anyhow::Result<()> {
    let session = Session::new("many", ENFORCE)?;
    let folder = session.home.user().join("t/subagents");
    fs::create_dir_all(&folder)?;
    for number in 0..MANY {
        fs::write(folder.join(format!("agent-{number}.jsonl")), "")?;
    }
    assert_eq!(session.ask("asked", "true")?, "defer");
    check_too_much(&session, "more transcripts")
}

#[test]
fn more_calls_at_once_than_are_followed_are_told() -> anyhow::Result<()> {
    let session = Session::new("begun", ENFORCE)?;
    assert_eq!(session.ask("asked", "true")?, "defer");
    let lines: Vec<Json> = (0..MANY).map(|number| begun(&number.to_string())).collect();
    append(&session.transcript, &lines)?;
    check_too_much(&session, "calls have begun")
}

#[test]
fn a_denied_call_that_runs_is_seen() -> anyhow::Result<()> {
    let session =
        Session::new("against", "version = 1\ndeny = [\"Bash(touch:*)\"]\non_ungoverned = \"stop\"\n")?;
    assert_eq!(session.ask("denied", "touch x")?, "deny");
    assert_eq!(session.ask("other", "true")?, "defer");
    session.write(&session.transcript, "denied")?;
    let record = session.waits_for("denied", "against_decision")?;
    assert_eq!(record["action"], "stop");
    assert_eq!(session.ask("next", "true")?, "deny");
    Ok(())
}

#[test]
fn a_call_that_an_earlier_daemon_judged_is_judged() -> anyhow::Result<()> {
    let session = Session::new("earlier", ENFORCE)?;
    assert_eq!(session.ask("asked", "true")?, "defer");
    kill(session.home.start_daemon()?)?;
    // The test's agents are short-lived; a real agent outlives the daemon.
    assert_eq!(session.ask("again", "true")?, "defer");
    session.write(&session.transcript, "asked")?;
    session.write(&session.transcript, "not asked")?;
    session.waits_for("not asked", "no_decision")?;
    Ok(())
}

#[test]
fn a_transcript_that_is_none_holds_nobody_up_and_is_told() -> anyhow::Result<()> {
    let session = Session::new("odd", ENFORCE)?;
    let check = |program: &str, arguments: &[&str], told: &str| -> anyhow::Result<()> {
        fs::remove_file(&session.transcript)?;
        let mut command = session.home.command(Path::new(program));
        let done = Running::start(command.args(arguments).arg(&session.transcript))?.finish(LIMIT)?;
        assert_eq!(done.code, Some(0), "{done:?}");
        // Each in its own session, because a problem is reported once per session.
        let mut call = bash("true");
        call["session_id"] = program.into();
        call["transcript_path"] = session.transcript.display().to_string().into();
        assert_eq!(understood(&judge(&session.home, &call)?), "defer", "{program}");
        let is_reported =
            || Ok(session.failures()?.iter().any(|failure| failure.contains(told)).then_some(()));
        anyhow::ensure!(until(LIMIT, is_reported)?.is_some(), "{told}: {:?}", session.failures()?);
        Ok(())
    };
    check("mkfifo", &[], "it is a pipe, not a regular file")?;
    check("ln", &["-s", "/dev/zero"], "a symbolic link")?;
    // A transcript that grows by a gigabyte while it is read.
    fs::remove_file(&session.transcript)?;
    fs::write(&session.transcript, "")?;
    assert_eq!(session.ask("a", "true")?, "defer");
    OpenOptions::new().write(true).open(&session.transcript)?.set_len(1 << 30)?;
    let is_reported =
        || Ok(session.failures()?.iter().any(|failure| failure.contains("not read")).then_some(()));
    anyhow::ensure!(until(LIMIT, is_reported)?.is_some(), "{:?}", session.failures()?);
    session.write(&session.transcript, "after it")?;
    // The zeros and the call are on one line, which is invalid.
    session.write(&session.transcript, "and on")?;
    session.waits_for("and on", "no_decision")?;
    Ok(())
}

#[test]
fn garbage_in_a_transcript_is_told_and_hides_nothing_after_it() -> anyhow::Result<()> {
    let session = Session::new("garbage", ENFORCE)?;
    assert_eq!(session.ask("a", "true")?, "defer");
    fs::write(&session.transcript, b"\xff\xfe\n\0\n{\"tool_use\n[[[[\n{\"tool_use\":1,\"tool_use\":2}\n")?;
    session.write(&session.transcript, "not asked")?;
    session.waits_for("not asked", "no_decision")?;
    let failures = session.failures()?;
    assert_eq!(failures.len(), 1, "{failures:?}");
    assert!(failures[0].contains("a line is not UTF-8"), "{failures:?}");
    Ok(())
}

#[test]
fn settings_that_switch_hooks_off_are_noticed_when_they_are_written() -> anyhow::Result<()> {
    let session = Session::new("switched", "version = 1\non_ungoverned = \"stop\"\n")?;
    let file = session.home.workspace().join(".claude/settings.json");
    assert_eq!(session.ask("a", "true")?, "defer");
    session.home.write(&file, r#"{"disableAllHooks":true}"#)?;
    let record = session.waits_for("", "hooks_off")?;
    assert_eq!(record["seen"], "settings");
    assert_eq!(record["file"], file.canonicalize()?.display().to_string());
    assert_eq!(record["message"], "`disableAllHooks: true` is in it now");
    // A hook that is still asked denies.
    assert_eq!(session.ask("b", "true")?, "deny");
    Ok(())
}

#[test]
fn strict_runs_nothing_beside_a_hook_that_nobody_trusts() -> anyhow::Result<()> {
    for (trusted, expected) in [("", "deny"), ("[hooks]\ntrusted = [\"/x/rewrite\"]\n", "defer")] {
        // An unknown workspace permits reading.
        let session = Session::new(
            "foreign",
            &format!("version = 1\nprofile = \"strict\"\ndefault = \"defer\"\n{trusted}"),
        )?;
        let calm = session.ask("a", "ls")?;
        assert_ne!(calm, "nonsense", "{calm}");
        session.home.write(&session.home.workspace().join(".claude/settings.json"), OTHER)?;
        session.ask("b", "ls")?;
        let codes = session.codes("b")?;
        assert_eq!(codes.contains(&"foreign_hook".to_owned()), expected == "deny", "{codes:?}");
    }
    Ok(())
}

#[test]
fn a_hook_in_the_folder_of_the_machines_settings_is_one_of_somebody_else() -> anyhow::Result<()> {
    let mut session = Session::new("machine", "version = 1\nprofile = \"strict\"\n")?;
    if !session.home.make_etc_private()? {
        return Ok(());
    }
    session.ask("a", "ls")?;
    assert!(!session.codes("a")?.contains(&"foreign_hook".to_owned()), "{:?}", session.codes("a")?);
    let folder = session.home.etc().join("claude-code/managed-settings.d");
    session.home.write(&folder.join("no settings.txt"), OTHER)?;
    session.ask("b", "ls")?;
    assert!(!session.codes("b")?.contains(&"foreign_hook".to_owned()), "{:?}", session.codes("b")?);
    session.home.write(&folder.join("other.json"), OTHER)?;
    assert_eq!(session.ask("c", "ls")?, "deny");
    assert!(session.codes("c")?.contains(&"foreign_hook".to_owned()), "{:?}", session.codes("c")?);
    Ok(())
}

#[test]
fn what_a_repository_switches_off_counts_for_nothing_where_the_machine_registers_castellan()
-> anyhow::Result<()> {
    let mut session = Session::new("managed", "version = 1\non_ungoverned = \"stop\"\n")?;
    if !session.home.make_etc_private()? {
        return Ok(());
    }
    let hook = session.home.bin().join("castellan-hook").display().to_string();
    let hook = HookCommand { program: hook, home: session.home.castellan().display().to_string() };
    let settings = register(AgentId::CLAUDE, "", &hook)?;
    session.home.write(&session.home.etc().join("claude-code/managed-settings.json"), &settings)?;
    assert_eq!(session.ask("a", "true")?, "defer");
    let file = session.home.workspace().join(".claude/settings.json");
    session.home.write(&file, r#"{"disableAllHooks":true}"#)?;
    let record = session.waits_for("", "hooks_off")?;
    let message = record["message"].as_str().unwrap_or_default();
    assert!(
        message.ends_with("castellan is asked all the same: it is registered for the machine"),
        "{message}"
    );
    assert_eq!(session.ask("b", "true")?, "defer");
    Ok(())
}
