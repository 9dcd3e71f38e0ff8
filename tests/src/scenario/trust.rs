//! A workspace that a person trusts, from another terminal, while an agent works in it.

use std::sync::Arc;

use anyhow::{Result, ensure};
use serde_json::json;

use super::{Registered, Stage, expect_record, expect_told};
use crate::agents::Agent;
use crate::model::{Model, Script};
use crate::run::{self, Options};
use crate::terminal;

/// Understood calls within the workspace run without a prompt. An untrusted workspace is read-only.
const AUTONOMOUS: &str = "version = 1\nprofile = \"autonomous\"\n";

/// Plays a call that only reads, a call that makes a file in the untrusted workspace, and another after a person has
/// trusted the workspace. The first write is denied, as in `check_escalation`.
pub fn check_trust(agent: Agent) -> Result<()> {
    let Some(stage) = Stage::with_config(agent, AUTONOMOUS, Registered::User)? else { return Ok(()) };
    let stage = Arc::new(stage);
    let turns = [
        vec![agent.shell("ls")],
        vec![agent.shell("touch before-file")],
        vec![agent.shell("touch after-file")],
    ];
    let person = Arc::clone(&stage);
    let script = Script::main(turns).before(2, move || {
        let workspace = person.home.workspace().display().to_string();
        let done = terminal::run_castellan(&person.home, &["trust", &workspace]);
        assert!(done.is_ok_and(|done| done.code == Some(0)), "a person cannot trust the workspace");
    });
    let model = Model::start(agent.api(), vec![script])?;
    let done = run::run(agent, &stage.executable, &stage.home, &model, &Options::default())?;
    stage.expect_file("before-file", false, &done);
    stage.expect_file("after-file", true, &done);
    expect_told(
        &model,
        "0-1-0",
        "this needs workspace-write, more than the access level read-only of the session",
    );
    let calls = stage.calls()?;
    let [looked, before, after] = ["0-0-0", "0-1-0", "0-2-0"].map(|id| stage.call(&calls, id));
    let workspace = stage.home.workspace().canonicalize()?;
    expect_record(looked?, json!({"verdict": "allow", "active_level": "read-only", "workspace": workspace}));
    expect_record(before?, json!({"verdict": "ask", "answer": "deny", "active_level": "read-only"}));
    expect_record(after?, json!({"verdict": "allow", "active_level": "workspace-write"}));
    let records = stage.home.records()?;
    let told = format!("trust_required {}", workspace.display());
    let required = records
        .iter()
        .filter(|record| record.pointer("/session/message") == Some(&told.as_str().into()))
        .count();
    ensure!(required == 1, "told {required} times that trust is required: {records:?}");
    ensure!(
        records.iter().any(|record| record.pointer("/control/action") == Some(&"trust_resolved".into())),
        "{records:?}"
    );
    Ok(())
}
