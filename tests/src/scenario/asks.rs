//! Asks with the real Claude Code, by mode: files that Claude calls sensitive, ordinary files, a command without a
//! file.

use anyhow::Result;
use serde_json::json;

use super::{Registered, Stage, expect_record, expect_told};
use crate::agents::Agent::Claude;
use crate::home::Home;
use crate::model::{Block, Script};
use crate::run::Options;

/// The text that the test's rule asks about, in a file's name or contents.
const ASKED: &str = "asked-file";

/// Files that Claude calls sensitive, below the user's home or the workspace.
const SENSITIVE: &[&str] = &["~/.profile", "~/.zshenv", "~/.gitconfig", ".git/hooks/pre-commit", ".mcp.json"];

/// Plays calls that a rule asks about: writes to sensitive and ordinary files, and a command without a file. None runs
/// without a person. The record holds the answer to Claude: `about_files` for the writes, an ask for the command.
pub fn check_asks(mode: &'static str, about_files: &str) -> Result<()> {
    let Some(stage) = Stage::set(Claude, "enforce", Registered::User)? else { return Ok(()) };
    let write =
        |file: &str| Block::call("Write", json!({"file_path": placed(&stage.home, file), "content": ASKED}));
    let aliases = stage.home.user().join(".bash_aliases");
    let mut turns: Vec<Vec<Block>> = SENSITIVE.iter().map(|file| vec![write(file)]).collect();
    turns.push(vec![Claude.shell(&format!("echo {ASKED} >> {}", aliases.display()))]);
    turns.extend(
        [write("new.txt"), write("~/notes.txt"), Claude.shell(&format!("touch {ASKED}"))]
            .map(|call| vec![call]),
    );
    let files = turns.len();
    turns.push(vec![Claude.shell(&format!("echo {ASKED}"))]);
    let options = Options { claude_permission_mode: mode, ..Options::default() };
    let count = turns.len();
    let (model, done) = stage.play(vec![Script::main(turns)], &options)?;
    for file in SENSITIVE.iter().chain(&["~/.bash_aliases", "~/notes.txt", "new.txt", ASKED]) {
        let file = placed(&stage.home, file);
        let text = std::fs::read_to_string(&file).unwrap_or_default();
        assert!(
            !text.contains(ASKED) && !file.ends_with(ASKED) || !file.exists(),
            "{mode}: `{}` was written\n{done:?}",
            file.display()
        );
    }
    let calls = stage.calls()?;
    for turn in 0..count {
        let id = format!("0-{turn}-0");
        let answer = if turn < files { about_files } else { "ask" };
        let record = stage.call(&calls, &id)?;
        expect_record(record, json!({"verdict": "ask", "answer": answer, "enforced": true}));
        if answer == "deny" {
            expect_told(&model, &id, "castellan blocked this; tell the user: request");
        }
    }
    Ok(())
}

fn placed(home: &Home, file: &str) -> std::path::PathBuf {
    match file.strip_prefix("~/") {
        Some(file) => home.user().join(file),
        None => home.workspace().join(file),
    }
}
