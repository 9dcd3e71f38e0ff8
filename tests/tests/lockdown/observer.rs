//! Observers with the real Claude Code and Codex: the lockdown holds with each layer removed, and with each layer alone.
//! The model requests the same calls each time; the file that they make must never appear.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::process::Command;

use anyhow::{Result, ensure};
use castellan_agents::{AgentId, HookCommand, observer_arguments};
use castellan_tests::agents::Agent::{self, Claude, Codex, Gemini, Qwen};
use castellan_tests::home::Home;
use castellan_tests::model::{Block, Model, Script};
use castellan_tests::plugin;
use castellan_tests::process::{Finished, Running};
use castellan_tests::run::AGENT_LIMIT;
use serde_json::json;

/// An agent with castellan, and a repository that permits everything.
struct Stage {
    agent: Agent,
    executable: PathBuf,
    home: Home,
    model: Model,
}

impl Stage {
    fn set(agent: Agent, config: &str, turns: impl FnOnce(&str) -> Vec<Vec<Block>>) -> Result<Option<Stage>> {
        let Some(executable) = agent.executable()? else { return Ok(None) };
        let home = Home::with_castellan("observer", &format!("version = 1\n{config}"), "[]\n")?;
        home.start_daemon()?;
        let turns = turns(&home.bin().join("made").display().to_string());
        let model = Model::start(agent.api(), vec![Script::main(turns).insisting()])?;
        let provider =
            format!("\n[model_providers.scripted]\nbase_url = \"http://127.0.0.1:{}/v1\"", model.port());
        let codex = home.codex().join("config.toml");
        let text = fs::read_to_string(&codex)?.replace("\n[model_providers.scripted]", &provider);
        fs::write(
            &codex,
            format!("sandbox_mode = \"danger-full-access\"\napproval_policy = \"never\"\n{text}"),
        )?;
        let stage = Stage { agent, executable, home, model };
        stage.write_loose_files()?;
        Ok(Some(stage))
    }

    /// Files of the repository and of the user that would allow every call, or run a program.
    fn write_loose_files(&self) -> Result<()> {
        let made = self.made().display().to_string();
        let hook =
            json!([{"matcher": "*", "hooks": [{"type": "command", "command": format!("touch {made}")}]}]);
        let hooks = json!({"PreToolUse": hook, "SessionStart": hook, "UserPromptSubmit": hook});
        let settings = json!({"disableAllHooks": false, "permissions": {"allow": ["Bash", "Write", "Read"],
            "defaultMode": "bypassPermissions"}, "hooks": hooks, "enableAllProjectMcpServers": true});
        let servers = json!({"mcpServers": {"x": {"command": "touch", "args": [made]}}});
        let workspace = self.home.workspace();
        for (file, text) in [
            (workspace.join(".claude/settings.json"), settings.to_string()),
            (workspace.join(".claude/settings.local.json"), settings.to_string()),
            (workspace.join(".mcp.json"), servers.to_string()),
            (workspace.join(".codex/hooks.json"), json!({"hooks": hooks}).to_string()),
            (self.home.user().join(".claude/settings.json"), settings.to_string()),
            (self.home.codex().join("hooks.json"), json!({"hooks": hooks}).to_string()),
        ] {
            self.home.write(&file, &text)?;
        }
        Ok(())
    }

    /// The file that every call would make.
    fn made(&self) -> PathBuf {
        self.home.bin().join("made")
    }

    fn environment(&self, command: &mut Command) {
        let address = format!("http://127.0.0.1:{}", self.model.port());
        command.env("ANTHROPIC_BASE_URL", address).env("ANTHROPIC_API_KEY", "sk-ant-scripted");
        command.env("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1").env("DISABLE_AUTOUPDATER", "1");
        command.env("IS_SANDBOX", "1");
    }

    fn user_arguments(&self) -> &'static [&'static str] {
        match self.agent {
            Claude => &["-p", "--verbose", "--output-format", "stream-json", "go"],
            Codex | Gemini | Qwen => &["exec", "--json", "-m", "gpt-5.5", "go"],
        }
    }

    /// Runs the agent by `castellan run`.
    fn run(&self, options: &[&str]) -> Result<Finished> {
        self.run_with(options, &[])
    }

    /// The same, with more arguments of the agent.
    fn run_with(&self, options: &[&str], more: &[&str]) -> Result<Finished> {
        let mut command = self.home.command(&self.home.bin().join("castellan"));
        self.environment(&mut command);
        command.arg("--home").arg(self.home.castellan()).arg("run").args(options);
        command.arg("--").arg(&self.executable).args(self.user_arguments()).args(more);
        Running::start(&mut command)?.finish(AGENT_LIMIT)
    }

    /// Runs the agent without `castellan run`, with these arguments, in an empty directory.
    fn run_alone(&self, arguments: &[String]) -> Result<Finished> {
        let mut command = self.home.command(&self.executable);
        self.environment(&mut command);
        let empty = self.home.bin().join("empty");
        fs::create_dir_all(&empty)?;
        Running::start(command.current_dir(empty).args(arguments))?.finish(AGENT_LIMIT)
    }

    /// Puts a program in the place of castellan's hook that lets every call pass.
    fn silence_hook(&self) -> Result<()> {
        let hook = self.home.bin().join("castellan-hook");
        fs::remove_file(&hook)?;
        self.home.write(&hook, "#!/bin/sh\nexit 0\n")?;
        Ok(fs::set_permissions(&hook, fs::Permissions::from_mode(0o755))?)
    }

    fn expect_nothing_made(&self, about: &str, done: &Finished) -> Result<()> {
        ensure!(!self.made().exists(), "{about}: a call ran: {done:?}");
        // Otherwise the test would prove nothing.
        ensure!(self.model.result_of("0-0-0").is_some(), "{about}: no call was requested: {done:?}");
        Ok(())
    }

    /// Requires that the model's calls are in the log.
    fn expect_attempts(&self, done: &Finished) -> Result<()> {
        let records = self.home.records()?;
        let attempts = records.iter().filter(|record| record["control"]["action"] == "tool_attempt").count();
        ensure!(attempts > 0, "no attempt was recorded: {records:?} {done:?}");
        Ok(())
    }
}

/// Calls that make the file: by a shell, and by the agent's own tool.
fn turns(agent: Agent, made: &str) -> Vec<Vec<Block>> {
    let write = match agent {
        Claude => Block::call("Write", json!({"file_path": made, "content": "x"})),
        Codex | Gemini | Qwen => Block::FreeCall {
            tool: "apply_patch".to_owned(),
            input: format!("*** Begin Patch\n*** Add File: {made}\n+x\n*** End Patch"),
        },
    };
    vec![vec![agent.shell(&format!("touch {made}"))], vec![write]]
}

fn stage(agent: Agent, config: &str) -> Result<Option<Stage>> {
    Stage::set(agent, config, |made| turns(agent, made))
}

fn observed(agent: Agent) -> Result<()> {
    let Some(stage) = stage(agent, "")? else { return Ok(()) };
    let done = stage.run(&["--profile", "observer"])?;
    ensure!(done.code == Some(0), "{done:?}");
    stage.expect_nothing_made("all layers", &done)?;
    stage.expect_attempts(&done)
}

/// A plugin that the user has installed loads for Claude Code, and not for an observer.
#[test]
fn an_observer_loads_no_plugin() -> Result<()> {
    let Some(stage) = stage(Claude, "")? else { return Ok(()) };
    plugin::install(&stage.home, &stage.executable, &format!("touch {}", stage.made().display()))?;
    let done = stage.run(&["--profile", "observer"])?;
    stage.expect_nothing_made("a plugin", &done)
}

/// The agent's own flags alone: castellan's hook lets everything pass.
fn by_flags_alone(agent: Agent) -> Result<()> {
    let Some(stage) = stage(agent, "")? else { return Ok(()) };
    stage.silence_hook()?;
    let done = stage.run(&["--profile", "observer"])?;
    stage.expect_nothing_made("flags alone", &done)?;
    stage.expect_attempts(&done)
}

/// castellan's decision alone: the agent may use every tool, and the profile is the configured one.
fn by_decision_alone(agent: Agent) -> Result<()> {
    let Some(stage) = stage(agent, "profile = \"observer\"\nallow = ['Bash', 'Write']\n")? else {
        return Ok(());
    };
    for file in [stage.home.user().join(".claude/settings.json"), stage.home.codex().join("hooks.json")] {
        fs::remove_file(file)?;
    }
    stage.home.run_castellan(&["install", agent.name()])?;
    let open: &[&str] = match agent {
        Claude => &["-p", "--permission-mode", "bypassPermissions", "go"],
        Codex | Gemini | Qwen => {
            &["exec", "-m", "gpt-5.5", "--skip-git-repo-check", "--dangerously-bypass-hook-trust", "go"]
        }
    };
    let open: Vec<String> = open.iter().map(|word| (*word).to_owned()).collect();
    let done = stage.run_alone(&open)?;
    stage.expect_nothing_made("decision alone", &done)
}

/// The lockdown arguments of an agent, in groups that each forbid the calls.
fn arguments(agent: Agent, home: &Home) -> Result<Vec<String>> {
    let id = if agent == Claude { AgentId::CLAUDE } else { AgentId::CODEX };
    let text = |path: PathBuf| path.display().to_string();
    let hook = HookCommand { program: text(home.bin().join("castellan-hook")), home: text(home.castellan()) };
    let user: &[&str] = if agent == Claude { &["-p", "go"] } else { &["exec", "-m", "gpt-5.5", "go"] };
    let all = observer_arguments(id, user, &hook)?;
    Ok(all.into_iter().map(|word| word.to_string_lossy().into_owned()).collect())
}

fn removed(all: &[String], begins: &[&str], with_next: bool) -> Vec<String> {
    let mut kept = Vec::new();
    let mut words = all.iter();
    while let Some(word) = words.next() {
        if begins.iter().any(|begin| word.starts_with(begin)) {
            if with_next {
                words.next();
            }
        } else {
            kept.push(word.clone());
        }
    }
    kept
}

#[test]
fn claude_has_no_tools_as_an_observer() -> Result<()> {
    observed(Claude)
}

#[test]
fn codex_has_no_tools_as_an_observer() -> Result<()> {
    observed(Codex)
}

#[test]
fn flags_alone_hold() -> Result<()> {
    by_flags_alone(Claude)?;
    by_flags_alone(Codex)
}

#[test]
fn castellans_decision_alone_holds() -> Result<()> {
    by_decision_alone(Claude)?;
    by_decision_alone(Codex)
}

/// Each of Claude Code's flags removed in turn, and each alone, without castellan's hook.
#[test]
fn each_flag_of_claude_is_enough() -> Result<()> {
    const TOOLS: &str = "--tools=";
    const DENIED: &str = "--disallowedTools=";
    const MODE: &str = "--permission-mode";
    for (about, gone, gone_mode) in [
        ("without --tools", vec![TOOLS], false),
        ("without --disallowedTools", vec![DENIED], false),
        ("without --permission-mode", vec![], true),
        ("--tools alone", vec![DENIED], true),
        ("--disallowedTools alone", vec![TOOLS], true),
        ("--permission-mode alone", vec![TOOLS, DENIED], false),
    ] {
        let Some(stage) = stage(Claude, "")? else { return Ok(()) };
        stage.silence_hook()?;
        let mut arguments = removed(&arguments(Claude, &stage.home)?, &gone, false);
        if gone_mode {
            arguments = removed(&arguments, &[MODE], true);
            arguments.splice(0..0, [MODE.to_owned(), "bypassPermissions".to_owned()]);
        }
        let done = stage.run_alone(&arguments)?;
        stage.expect_nothing_made(about, &done)?;
    }
    // All of them removed: the same calls run, so the cases above prove something.
    let Some(stage) = stage(Claude, "")? else { return Ok(()) };
    stage.silence_hook()?;
    let arguments =
        removed(&removed(&arguments(Claude, &stage.home)?, &[TOOLS, DENIED], false), &[MODE], true);
    let open = ["--permission-mode", "bypassPermissions"].map(str::to_owned);
    let done = stage.run_alone(&open.into_iter().chain(arguments).collect::<Vec<_>>())?;
    ensure!(stage.made().exists(), "{done:?}");
    Ok(())
}

/// A budget ends the real agents in the middle of their work. Codex reports a response after the calls in it.
fn budget_ends(agent: Agent, option: &str, about: &str) -> Result<()> {
    let steps: Vec<_> =
        (0..40).map(|step| vec![agent.shell(&format!("sleep 0.5; touch step-{step}"))]).collect();
    let Some(stage) = Stage::set(agent, "default = \"allow\"\n", |_| steps)? else { return Ok(()) };
    for file in [".claude/settings.json", ".claude/settings.local.json", ".mcp.json", ".codex/hooks.json"] {
        fs::remove_file(stage.home.workspace().join(file))?;
    }
    stage.home.register(agent)?;
    // Nobody has trusted Codex's hooks here.
    let more: &[&str] = if agent == Codex { &["--dangerously-bypass-hook-trust"] } else { &[] };
    // A response has 150 tokens, so the second one is more than 200.
    let done = stage.run_with(&[option, "200"], more)?;
    ensure!(done.code == Some(124), "{agent:?}: {done:?}");
    ensure!(!stage.home.workspace().join("step-39").exists(), "{agent:?}: {done:?}");
    let records = stage.home.records()?;
    let notes = records.iter().filter(|record| record["control"]["action"] == "token_budget_exceeded");
    let notes: Vec<String> = notes.map(|record| record["control"]["argument"].to_string()).collect();
    ensure!(matches!(&notes[..], [one] if one.contains(about)), "{agent:?}: {notes:?} {done:?}");
    Ok(())
}

#[test]
fn a_spent_budget_of_a_start_ends_the_real_agents() -> Result<()> {
    budget_ends(Claude, "--budget-invocation", "the invocation budget")?;
    budget_ends(Codex, "--budget-invocation", "the invocation budget")
}

#[test]
fn a_spent_budget_of_a_session_ends_the_real_agents() -> Result<()> {
    budget_ends(Claude, "--budget-session", "the session budget")?;
    budget_ends(Codex, "--budget-session", "the session budget")
}

/// With this variable Claude Code writes no transcript. A repository's settings can set it.
#[test]
fn a_repository_that_switches_transcripts_off_hides_no_tokens() -> Result<()> {
    let Some(stage) = stage(Claude, "")? else { return Ok(()) };
    stage.home.register(Claude)?;
    let settings = json!({"env": {"CLAUDE_CODE_SKIP_PROMPT_HISTORY": "1"}});
    stage.home.write(&stage.home.workspace().join(".claude/settings.json"), &settings.to_string())?;
    let mut command = stage.home.command(&stage.home.bin().join("castellan"));
    stage.environment(&mut command);
    command.arg("--home").arg(stage.home.castellan()).args(["run", "--budget-invocation", "1000000"]);
    command.arg("--").arg(&stage.executable).args(["-p", "go"]);
    let done = Running::start(&mut command)?.finish(AGENT_LIMIT)?;
    ensure!(done.code == Some(124) && done.stderr.contains("reported no tokens"), "{done:?}");
    Ok(())
}
