//! The real Claude Code and Codex in a sandbox, with scripted models.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};
use castellan_tests::agents::Agent::{self, Claude, Codex, Gemini, Qwen};
use castellan_tests::home::Home;
use castellan_tests::model::{Block, Model, Script};
use castellan_tests::process::{Finished, Running};
use castellan_tests::run::AGENT_LIMIT;
use serde_json::{Value as Json, json};

use crate::rig::{CANARY, Rig};

/// castellan's own rules only record here: they would deny what the sandbox has to stop alone.
const OBSERVE: &str = "[tiers]\nask = \"observe\"\nreview = \"observe\"\n[packs]\nsecrets = \"observe\"\n\
                       filesystem = \"observe\"\ngit = \"observe\"\npersistence = \"observe\"\n";

/// An agent with castellan installed.
struct Stage {
    agent: Agent,
    executable: PathBuf,
    rig: Rig,
    model: Model,
}

impl Stage {
    fn set(agent: Agent, commands: &[&str]) -> Result<Option<Stage>> {
        let Some(executable) = agent.executable()? else { return Ok(None) };
        let turns: Vec<Vec<Block>> = commands.iter().map(|command| vec![agent.shell(command)]).collect();
        let model = Model::start(agent.api(), vec![Script::main(turns).insisting()])?;
        // castellan finds Claude's address in its variables; that of Codex is in a file of Codex.
        let hosts = match agent {
            Claude => "environment = [\"IS_SANDBOX\"]".to_owned(),
            Codex | Gemini | Qwen => format!("hosts = [\"127.0.0.1:{}\"]", model.port()),
        };
        let rig = Rig::new(&format!("{hosts}\n{OBSERVE}"))?;
        connect_codex(&rig.home, &model)?;
        rig.home.run_castellan(&["install", agent.name()])?;
        Ok(Some(Stage { agent, executable, rig, model }))
    }

    fn command(&self, options: &[&str]) -> Command {
        self.command_with(options, "danger-full-access")
    }

    /// `mode`: the sandbox of Codex itself.
    fn command_with(&self, options: &[&str], mode: &str) -> Command {
        let mut command = self.rig.agent_command(&self.executable, options, &[]);
        let address = format!("http://127.0.0.1:{}", self.model.port());
        command.env("ANTHROPIC_BASE_URL", address).env("ANTHROPIC_API_KEY", "sk-ant-scripted");
        command.env("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1").env("DISABLE_AUTOUPDATER", "1");
        command.env("IS_SANDBOX", "1");
        let words: &[&str] = match self.agent {
            Claude => &[
                "-p",
                "--permission-mode",
                "bypassPermissions",
                "--verbose",
                "--output-format",
                "stream-json",
                "go",
            ],
            Codex | Gemini | Qwen => &[
                "exec",
                "--json",
                "-m",
                "gpt-5.5",
                "--sandbox",
                mode,
                "--dangerously-bypass-hook-trust",
                "go",
            ],
        };
        command.args(words);
        command
    }

    fn run(&self, options: &[&str]) -> Result<Finished> {
        Running::start(&mut self.command(options))?.finish(AGENT_LIMIT)
    }

    /// The result of the call with this number.
    fn result(&self, number: usize, done: &Finished) -> Result<String> {
        let result = self.model.result_of(&format!("0-{number}-0"));
        result.with_context(|| format!("{:?}: no result {number}: {done:?}", self.agent))
    }
}

/// Writes the model's address into Codex's configuration.
fn connect_codex(home: &Home, model: &Model) -> Result<()> {
    let file = home.codex().join("config.toml");
    let address =
        format!("\n[model_providers.scripted]\nbase_url = \"http://127.0.0.1:{}/v1\"", model.port());
    let text = fs::read_to_string(&file)?.replace("\n[model_providers.scripted]", &address);
    Ok(fs::write(&file, text)?)
}

/// A whole session: work in the workspace succeeds; the rest of the machine is out of reach; castellan's hook still decides.
fn works_inside(agent: Agent) -> Result<()> {
    let Some(stage) = Stage::set(
        agent,
        &[
            "echo made > made; cat made",
            "cat ../user/.ssh/id_canary; echo x > ../outside; echo x > .git/new; echo x > ../user/new; echo tried",
            "echo forbidden-word > denied",
            "(setsid sleep 607 >/dev/null 2>&1 &); echo left",
        ],
    )?
    else {
        return Ok(());
    };
    let done = stage.run(&[])?;
    ensure!(done.code == Some(0), "{agent:?}: {done:?}");
    let rig = &stage.rig;
    ensure!(rig.file("made").exists() && stage.result(0, &done)?.contains("made"), "{agent:?}: {done:?}");
    let tried = stage.result(1, &done)?;
    ensure!(
        tried.contains("tried") && tried.contains("id_canary: Permission denied") && !tried.contains(CANARY),
        "{agent:?}: {tried}"
    );
    for file in ["../outside", ".git/new", "../user/new", "denied"] {
        ensure!(!rig.file(file).exists(), "{agent:?}: `{file}`: {done:?}");
    }
    let denied = stage.result(2, &done)?;
    ensure!(denied.contains("this word is denied"), "{agent:?}: {denied}");
    ensure!(stage.result(3, &done)?.contains("left"), "{agent:?}: {done:?}");
    ensure!(
        castellan_tests::process::processes_of(&rig.home.workspace()).is_empty(),
        "{agent:?}: a process is left"
    );
    // The decisions are in the log outside, as calls of this agent.
    let records = rig.home.records()?;
    let verdicts: Vec<&str> = records
        .iter()
        .filter(|record| record["call"]["agent"] == agent.field())
        .filter_map(|record| record["call"]["verdict"].as_str())
        .collect();
    ensure!(verdicts.contains(&"deny") && verdicts.contains(&"allow"), "{agent:?}: {verdicts:?}");
    ensure!(rig.notes("sandbox")?.len() == 1);
    Ok(())
}

#[test]
fn claude_works_inside() -> Result<()> {
    works_inside(Claude)
}

#[test]
fn codex_works_inside() -> Result<()> {
    works_inside(Codex)
}

/// A budget ends a real agent and all that is inside, in the middle of its work.
fn budget_ends(agent: Agent) -> Result<()> {
    let steps: Vec<String> = (0..40).map(|step| format!("sleep 0.5; touch step-{step}")).collect();
    let steps: Vec<&str> = steps.iter().map(String::as_str).collect();
    let Some(stage) = Stage::set(agent, &steps)? else { return Ok(()) };
    let done = stage.run(&["--budget-invocation", "200"])?;
    ensure!(done.code == Some(124), "{agent:?}: {done:?}");
    ensure!(stage.rig.file("step-0").exists() && !stage.rig.file("step-39").exists(), "{agent:?}: {done:?}");
    ensure!(castellan_tests::process::processes_of(&stage.rig.home.workspace()).is_empty(), "{agent:?}");
    ensure!(stage.rig.notes("token_budget_exceeded")?.len() == 1, "{agent:?}: {done:?}");
    Ok(())
}

#[test]
fn a_spent_budget_ends_claude_and_codex_inside() -> Result<()> {
    budget_ends(Claude)?;
    budget_ends(Codex)
}

/// An observer in a sandbox answers, and no call runs.
fn observes_inside(agent: Agent) -> Result<()> {
    let Some(stage) = Stage::set(agent, &["echo x > /tmp/made; echo called"])? else { return Ok(()) };
    let mut command = stage.rig.agent_command(&stage.executable, &["--profile", "observer"], &[]);
    let address = format!("http://127.0.0.1:{}", stage.model.port());
    command.env("ANTHROPIC_BASE_URL", address).env("ANTHROPIC_API_KEY", "sk-ant-scripted");
    command.env("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1").env("DISABLE_AUTOUPDATER", "1");
    let words: &[&str] = match agent {
        Claude => &["-p", "--verbose", "--output-format", "stream-json", "go"],
        Codex | Gemini | Qwen => &["exec", "--json", "-m", "gpt-5.5", "go"],
    };
    let done = Running::start(command.args(words))?.finish(AGENT_LIMIT)?;
    ensure!(done.code == Some(0), "{agent:?}: {done:?}");
    let result = stage.result(0, &done)?;
    ensure!(!result.contains("called\n"), "{agent:?}: {result}");
    ensure!(!stage.rig.notes("tool_attempt")?.is_empty(), "{agent:?}: {done:?}");
    Ok(())
}

#[test]
fn claude_and_codex_are_observers_inside() -> Result<()> {
    observes_inside(Claude)?;
    observes_inside(Codex)
}

/// The agent's own sandbox needs namespaces, which castellan's refuses. So its commands fail: none runs without a sandbox.
fn own_sandbox_does_not_start(agent: Agent) -> Result<()> {
    let Some(stage) = Stage::set(agent, &["echo made > made; echo ran"])? else { return Ok(()) };
    if agent == Claude {
        let file = stage.rig.home.user().join(".claude/settings.json");
        let mut settings: Json = serde_json::from_str(&fs::read_to_string(&file)?)?;
        settings["sandbox"] = json!({"enabled": true});
        fs::write(&file, settings.to_string())?;
    }
    let mut command = stage.command_with(&[], "workspace-write");
    let done = Running::start(&mut command)?.finish(AGENT_LIMIT)?;
    let result = stage.result(0, &done)?;
    ensure!(result.contains("No permissions to create new namespace"), "{agent:?}: {result}");
    ensure!(!result.contains("ran") && !stage.rig.file("made").exists(), "{agent:?}: {result}");
    Ok(())
}

#[test]
fn codex_starts_no_sandbox_of_its_own_inside() -> Result<()> {
    own_sandbox_does_not_start(Codex)
}

/// Claude Code uses the bubblewrap of the machine.
#[test]
fn claude_starts_no_sandbox_of_its_own_inside() -> Result<()> {
    if !["bwrap", "socat"].iter().all(|program| Path::new("/usr/bin").join(program).exists()) {
        println!("SKIPPED: Claude Code's own sandbox needs bwrap and socat");
        return Ok(());
    }
    own_sandbox_does_not_start(Claude)
}
