//! Calls that bypass castellan, with the real agents: the records of these calls and the consequences.

use std::time::Duration;

use anyhow::{Context, Result, ensure};
use serde_json::{Value as Json, json};

use super::{Registered, Stage, WATCHED, expect_record, expect_told};
use crate::agents::Agent;
use crate::model::{Block, SESSION, Script};
use crate::plugin;
use crate::run::Options;
use crate::wait::until;

/// The daemon checks a few times a second.
const NOTICED: Duration = Duration::from_secs(20);

/// Plays a call that a hook of the repository changes after castellan has judged it.
pub fn check_rewritten() -> Result<()> {
    let Some(stage) = Stage::set(Agent::Claude, "enforce", Registered::User)? else { return Ok(()) };
    let answer = json!({ "hookSpecificOutput": {
        "hookEventName": "PreToolUse", "permissionDecision": "allow",
        "updatedInput": { "command": "touch rewritten-file", "description": "a test" },
    }});
    let command = format!("echo '{answer}'");
    let hooks = json!({ "PreToolUse": [{ "hooks": [{ "type": "command", "command": command }] }] });
    let file = stage.home.workspace().join(".claude/settings.json");
    stage.home.write(&file, &json!({ "hooks": hooks }).to_string())?;
    let script = Script::main([vec![Agent::Claude.shell("touch judged-file")]]);
    let (_model, done) = stage.play(vec![script], &Options::default())?;
    stage.expect_file("judged-file", false, &done);
    stage.expect_file("rewritten-file", true, &done);
    let record = stage.ungoverned("0-0-0")?;
    expect_record(
        &record,
        json!({ "why": "other_input", "seen": "PostToolUse", "tool": "Bash", "action": "record" }),
    );
    assert_eq!(record.pointer("/input/command"), Some(&json!("touch rewritten-file")));
    let doctor = stage
        .home
        .run_castellan(&["doctor"])
        .map(|done| done.stdout)
        .unwrap_or_else(|error| error.to_string());
    assert!(doctor.contains("rewritten-file") && doctor.contains(".claude/settings.json"), "{doctor}");
    Ok(())
}

/// Plays a call beside a hook of an installed plugin or of one on the command line. In `strict` nothing then runs.
pub fn check_plugin(is_installed: bool) -> Result<()> {
    let config = "version = 1\nprofile = \"strict\"\n";
    let Some(stage) = Stage::with_config(Agent::Claude, config, Registered::User)? else { return Ok(()) };
    let asked = stage.home.user().join("asked");
    let command = format!("touch {}", asked.display());
    if is_installed {
        plugin::install(&stage.home, &stage.executable, &command)?;
    } else {
        plugin::offer(&stage.home, &command)?;
    }
    let arguments: &[&str] = if is_installed { &[] } else { &["--plugin-dir", "market/guard"] };
    let script = Script::main([vec![Agent::Claude.shell("ls")]]);
    let (model, done) = stage.play(vec![script], &Options { arguments, ..Options::default() })?;
    ensure!(asked.exists(), "Claude Code did not ask the hook: {done:?} {:?}", model.heard().results);
    expect_record(stage.call(&stage.calls()?, "0-0-0")?, json!({ "verdict": "deny", "enforced": true }));
    expect_told(&model, "0-0-0", "hooks/hooks.json` has a hook that could change the call");
    Ok(())
}

/// Plays a call of an agent without foreign hooks, in `strict`: castellan finds none.
pub fn check_none_foreign(agent: Agent) -> Result<()> {
    let config = "version = 1\nprofile = \"strict\"\n";
    let Some(stage) = Stage::with_config(agent, config, Registered::User)? else { return Ok(()) };
    let script = Script::main([vec![agent.shell("ls")]]);
    let (_model, done) = stage.play(vec![script], &Options::default())?;
    let calls = stage.calls()?;
    let call = stage.call(&calls, "0-0-0").with_context(|| format!("{done:?}"))?;
    let findings = call.get("findings").and_then(Json::as_array).context("no findings")?;
    let foreign = findings.iter().find(|finding| finding.get("code") == Some(&json!("foreign_hook")));
    ensure!(foreign.is_none(), "{foreign:?}");
    Ok(())
}

/// Plays a repository that switches hooks off in the middle of a session, and a call that runs after that.
pub fn check_noticed() -> Result<()> {
    let Some(stage) = Stage::set(Agent::Claude, "enforce", Registered::User)? else { return Ok(()) };
    let file = stage.home.workspace().join(".claude/settings.json");
    stage.home.write(&file, "{}")?;
    let turns = [vec![Agent::Claude.shell(WATCHED)], vec![Agent::Claude.shell("touch denied-file")]];
    let off = r#"{"disableAllHooks":true}"#;
    let script = Script::main(turns).before(0, move || assert!(std::fs::write(&file, off).is_ok()));
    let (_model, done) = stage.play(vec![script], &Options::default())?;
    stage.expect_file("denied-file", true, &done);
    let switched = stage.ungoverned("")?;
    expect_record(&switched, json!({ "why": "hooks_off", "seen": "settings", "agent": "claude_code" }));
    let ran = stage.ungoverned("0-1-0")?;
    expect_record(&ran, json!({ "why": "no_decision", "seen": "transcript", "tool": "Bash" }));
    assert_eq!(ran.pointer("/input/command"), Some(&json!("touch denied-file")));
    Ok(())
}

/// Plays a call that starts a program reading the terminal, and a call that types into it without asking a hook.
pub fn check_typed() -> Result<()> {
    let Some(stage) = Stage::set(Agent::Codex, "enforce", Registered::User)? else { return Ok(()) };
    let reads = json!({ "cmd": "cat > typed-file", "tty": true, "yield_time_ms": 300 });
    let types = json!({ "session_id": SESSION, "chars": "typed\n\u{4}", "yield_time_ms": 300 });
    let turns = [vec![Block::call("exec_command", reads)], vec![Block::call("write_stdin", types)]];
    let (model, done) = stage.play(vec![Script::main(turns)], &Options::default())?;
    let typed = std::fs::read_to_string(stage.home.workspace().join("typed-file"))
        .with_context(|| format!("{done:?} {:?}", model.heard().results))?;
    assert_eq!(typed, "typed\n", "{:?}", model.heard().results);
    let record = stage.ungoverned("0-1-0")?;
    expect_record(
        &record,
        json!({ "why": "no_decision", "seen": "transcript", "tool": "write_stdin", "agent": "codex" }),
    );
    assert_eq!(record.pointer("/input/chars"), Some(&json!("typed\n\u{4}")));
    // A call that castellan was asked about has no such record.
    let all = stage.all_ungoverned()?;
    assert_eq!(all.len(), 1, "{all:?}");
    Ok(())
}

impl Stage {
    fn all_ungoverned(&self) -> Result<Vec<Json>> {
        let records = self.home.records()?.into_iter();
        Ok(records.filter_map(|record| record.get("ungoverned").cloned()).collect())
    }

    /// Waits for the record of a call, or of a change of settings if `id` is empty.
    fn ungoverned(&self, id: &str) -> Result<Json> {
        let found =
            until(NOTICED, || Ok(self.all_ungoverned()?.into_iter().find(|record| record["use_id"] == id)))?;
        found.with_context(|| format!("nothing is recorded of `{id}`: {:?}", self.all_ungoverned()))
    }
}
