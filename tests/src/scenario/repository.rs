//! A repository that an agent makes from ordinary files. git then runs the commands in its settings.

use anyhow::Result;
use serde_json::json;

use super::{Registered, Stage, expect_record, expect_told};
use crate::agents::Agent;
use crate::model::{Block, Script};
use crate::run::Options;

/// Plays calls that write `HEAD` and `config` like any other files, and a call of `git status` there. `holds`:
/// castellan enforces. Otherwise castellan only monitors, and git runs the command in the settings.
pub fn check_repository(agent: Agent, holds: bool, write: fn(&str, &str) -> Block) -> Result<()> {
    let mode = if holds { "enforce" } else { "monitor" };
    let Some(stage) = Stage::set(agent, mode, Registered::User)? else { return Ok(()) };
    let started = stage.home.workspace().join("started-file");
    let config = format!(
        "[core]\n\trepositoryformatversion = 0\n\tbare = false\n\tworktree = ..\n\tfsmonitor = touch {}\n",
        started.display()
    );
    let file = |name: &str| stage.home.workspace().join("bare").join(name).display().to_string();
    let turns = [
        vec![agent.shell("mkdir -p bare/objects bare/refs")],
        vec![write(&file("HEAD"), "ref: refs/heads/main\n"), write(&file("config"), &config)],
        vec![agent.shell("git -C bare status")],
    ];
    let (model, done) = stage.play(vec![Script::main(turns)], &Options::default())?;
    stage.expect_file("bare/config", true, &done);
    stage.expect_file("started-file", !holds, &done);
    if holds {
        expect_told(&model, "0-2-0", "the test denies what makes this file");
    }
    expect_record(stage.call(&stage.calls()?, "0-2-0")?, json!({"verdict": "deny", "enforced": holds}));
    Ok(())
}
