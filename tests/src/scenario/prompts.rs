//! The prompts of a session of ordinary work: those that Claude Code opens by itself, and those with castellan.

use std::fs;
use std::process::Command;

use anyhow::{Context, Result, ensure};

use super::{Registered, Stage};
use crate::agents::Agent::Claude;
use crate::model::Script;
use crate::run::Options;

/// castellan leaves every call to the agent, as if it was not there.
const WITHOUT: &str = "version = 1\nmode = \"monitor\"\n";
const STANDARD: &str = "version = 1\nprofile = \"standard\"\n";
const QUIET: &str = "version = 1\nprofile = \"quiet\"\n";

/// Texts by which Claude Code 2.1.330 refuses a call that it would ask a person about, and castellan's own.
const REFUSED: &[&str] = &[
    "approval",
    "can't be checked before it runs",
    "evaluates arguments as shell code",
    "castellan blocked this",
];

/// Ordinary work in a small project. No call is about a file of an earlier call that may be refused: Claude Code reports no
/// end of a refused call without a person, so castellan takes such a file for one that is being changed.
const COMMANDS: &[&str] = &[
    "git status --short && git log --oneline -5",
    "ls -la && cat package.json",
    "rg -n add src | head",
    "find . -name '*.js' -not -path './node_modules/*'",
    "sed -n '1,20p' src/add.js",
    "wc -l src/*.js | sort -n",
    "mkdir -p build && cp src/add.js build/add.js",
    "printf 'exports.sub = (a, b) => a - b;\\n' > src/sub.js",
    "cat > notes.txt <<'EOF'\nadd and sub\nEOF\ncat notes.txt",
    "for f in src/*.js; do echo \"$f\"; head -1 \"$f\"; done",
    "sed -i 's/a + b/a + b + 0/' src/add.js",
    "git diff --stat",
    "git add -A && git commit -q -m 'add sub'",
    "git checkout -q -b topic && touch x.tmp && rm x.tmp",
    "grep -rn sub --include='*.js' . | wc -l",
    "echo '{\"a\": 1}' | tee a.json | wc -c",
];

/// Commands that run code of the workspace. castellan leaves such code to Claude's own prompt in these modes.
const RUNS: &[&str] = &[
    "node run.js",
    "npm test",
    "npm run build",
    "make",
    "./run.sh",
    "bash run.sh",
    "python3 run.py",
    "go test ./...",
    "cargo test",
    "npx jest",
    ". ./run.sh",
];
const ASKING: [&str; 2] = ["default", "acceptEdits"];

/// Plays commands that run code in the modes in which Claude Code asks about each. Without castellan's answers it must
/// ask about all.
pub fn check_asks_before_code_runs() -> Result<()> {
    for mode in ASKING {
        let Some(count) = refused(WITHOUT, mode, RUNS)? else { return Ok(()) };
        ensure!(count == RUNS.len(), "{mode}: it asks about {count} of {} commands", RUNS.len());
    }
    Ok(())
}

/// Plays the work in Claude's mode `default` without castellan's answers, with `standard` and with `quiet`. Prints the
/// number of prompts of each.
pub fn check_prompts() -> Result<()> {
    let mut counts = Vec::new();
    for config in [WITHOUT, STANDARD, QUIET] {
        let Some(count) = refused(config, "default", COMMANDS)? else { return Ok(()) };
        counts.push(count);
    }
    let [without, standard, quiet] = counts[..] else { return Ok(()) };
    println!("prompts in {} calls: without {without}, standard {standard}, quiet {quiet}", COMMANDS.len());
    ensure!(without > 0, "the client asks about nothing by itself");
    ensure!(standard <= without, "standard asks {standard} times, the client {without} times");
    ensure!(quiet * 4 <= without, "quiet asks {quiet} times, the client {without} times");
    Ok(())
}

/// Returns the number of calls that a person would have been asked about. Nobody is there, so such a call is refused.
fn refused(config: &str, mode: &'static str, commands: &[&str]) -> Result<Option<usize>> {
    let Some(stage) = Stage::with_config(Claude, config, Registered::User)? else { return Ok(None) };
    let workspace = stage.home.workspace();
    fs::create_dir_all(workspace.join("src"))?;
    fs::write(workspace.join("package.json"), "{ \"name\": \"sums\", \"private\": true }\n")?;
    fs::write(workspace.join("src/add.js"), "exports.add = (a, b) => a + b;\n")?;
    fs::write(workspace.join("run.js"), "console.log(1)\n")?;
    fs::write(workspace.join("run.sh"), "echo 1\n")?;
    for words in
        [&["init", "-q"][..], &["config", "user.email", "a@b.example"], &["config", "user.name", "a"]]
    {
        let done = Command::new("git").args(words).current_dir(&workspace).status()?;
        ensure!(done.success(), "git {words:?}");
    }
    let turns: Vec<_> = commands.iter().map(|command| vec![Claude.shell(command)]).collect();
    let options = Options { claude_permission_mode: mode, ..Options::default() };
    let (model, _done) = stage.play(vec![Script::main(turns)], &options)?;
    let mut count = 0;
    for (at, command) in commands.iter().enumerate() {
        let result =
            model.result_of(&format!("0-{at}-0")).with_context(|| format!("no result: {command}"))?;
        count += usize::from(REFUSED.iter().any(|text| result.contains(text)));
    }
    Ok(Some(count))
}
