//! Access levels with the real agents: a call above its session's level, and a sub-agent above its parent's level.

use std::sync::Arc;

use anyhow::{Result, ensure};
use serde_json::json;

use super::{Registered, Stage, expect_record, expect_told};
use crate::agents::Agent;
use crate::consent::{approve, waiting};
use crate::model::{Block, Script};
use crate::run::Options;

const READ_ONLY: &str = "version = 1\n[level]\nsession = \"read-only\"\n";
const DENYING: &str = "version = 1\n[level]\nsession = \"read-only\"\non_insufficient = \"deny\"\n";
const WRITING: &str = "version = 1\n[level]\nsession = \"workspace-write\"\n";

/// The message to the model about a call above its level.
const SHORT: &str = "this needs workspace-write, more than the access level read-only of the session";

/// Plays a call that only reads, a call that makes a file, the same call after a person's approval at another terminal,
/// and a call for another file. The unapproved calls that write are denied: Codex asks nobody, and Claude is in a mode
/// that may drop an ask about a file.
pub fn check_escalation(agent: Agent) -> Result<()> {
    let Some(stage) = Stage::with_config(agent, READ_ONLY, Registered::User)? else { return Ok(()) };
    let stage = Arc::new(stage);
    let turns = ["ls", "touch a-file", "touch a-file", "touch b-file"].map(|text| vec![agent.shell(text)]);
    let person = Arc::clone(&stage);
    let script = Script::main(turns).before(2, move || {
        let approved = waiting(&person.home).and_then(|id| approve(&person.home, &id, "touch a-file"));
        assert!(approved.is_ok(), "{approved:?}");
    });
    let (model, done) = stage.play(vec![script], &Options::default())?;
    stage.expect_file("a-file", true, &done);
    stage.expect_file("b-file", false, &done);
    expect_told(&model, "0-1-0", SHORT);
    expect_told(&model, "0-3-0", SHORT);
    let calls = stage.calls()?;
    let [looked, short, granted, other] =
        ["0-0-0", "0-1-0", "0-2-0", "0-3-0"].map(|id| stage.call(&calls, id));
    let (write, read) = ("workspace-write", "read-only");
    expect_record(looked?, json!({"verdict": "defer", "required_level": read, "active_level": read}));
    expect_record(
        short?,
        json!({"verdict": "ask", "answer": "deny", "required_level": write, "active_level": read}),
    );
    expect_record(granted?, json!({"verdict": "allow", "required_level": write, "active_level": read}));
    expect_record(other?, json!({"verdict": "ask", "answer": "deny"}));
    Ok(())
}

/// Plays a call that needs more if nobody is asked. castellan denies it, and nobody can approve it.
pub fn check_denied_escalation(agent: Agent) -> Result<()> {
    let Some(stage) = Stage::with_config(agent, DENYING, Registered::User)? else { return Ok(()) };
    let script = Script::main([vec![agent.shell("touch a-file")]]);
    let (model, done) = stage.play(vec![script], &Options::default())?;
    stage.expect_file("a-file", false, &done);
    expect_told(&model, "0-0-0", SHORT);
    expect_record(stage.call(&stage.calls()?, "0-0-0")?, json!({"verdict": "deny", "answer": "deny"}));
    Ok(())
}

/// Plays a Claude Code in plan mode, and its sub-agent with a definition that permits everything. The sub-agent has its
/// parent's level. (2.1.330 reports the parent's mode for both; tests of the daemon report another mode.)
pub fn check_ceiling() -> Result<()> {
    const TASK: &str = "make the file of the sub-agent";
    const WRITER: &str =
        "---\nname: writer\ndescription: writes\npermissionMode: bypassPermissions\n---\nYou write files.\n";
    let agent = Agent::Claude;
    let Some(stage) = Stage::with_config(agent, WRITING, Registered::User)? else { return Ok(()) };
    stage.home.write(&stage.home.user().join(".claude/agents/writer.md"), WRITER)?;
    let spawn = Block::call("Agent", json!({"description": "x", "prompt": TASK, "subagent_type": "writer"}));
    let turns = [vec![agent.shell("ls"), agent.shell("touch sub-file")]];
    let scripts = vec![Script::main([vec![spawn]]), Script::subagent(TASK, turns)];
    // Claude's own classifier, which would check the plan, needs a server.
    let settings = &["--settings", r#"{"permissions":{"disableAutoMode":"disable"}}"#];
    let options = Options { claude_permission_mode: "plan", arguments: settings, ..Options::default() };
    let (model, done) = stage.play(scripts, &options)?;
    stage.expect_file("sub-file", false, &done);
    expect_told(&model, "1-0-1", SHORT);
    let calls = stage.calls()?;
    let [main, looked, written] = ["0-0-0", "1-0-0", "1-0-1"].map(|id| stage.call(&calls, id));
    let (main, looked, written) = (main?, looked?, written?);
    expect_record(main, json!({"tool": "Agent", "subagent_id": "", "active_level": "read-only"}));
    expect_record(looked, json!({"verdict": "defer", "active_level": "read-only"}));
    expect_record(written, json!({"verdict": "ask", "active_level": "read-only"}));
    ensure!(written["subagent_id"] != "", "whose call was it? {written}");
    Ok(())
}
