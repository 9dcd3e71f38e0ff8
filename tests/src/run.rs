//! Runs an agent once, without a person, against a scripted model: Codex with `exec`, the others with `-p`.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::Result;

use crate::agents::Agent;
use crate::home::Home;
use crate::model::Model;
use crate::process::{Finished, Running};

/// Agents take 1 to 5 s for a run. With a hung daemon, the hook's deadline is added for each event.
pub const AGENT_LIMIT: Duration = Duration::from_secs(60);

/// Codex chooses its tools by model, measured on 0.169.0. With this model it offers an `exec` that runs JavaScript, in
/// which the other tools are functions (Code Mode).
pub const CODEX_CODE_MODE: &str = "gpt-6.1-sol";

/// With a model unknown to Codex, it offers sub-agents as `multi_agent_v1.spawn_agent`.
pub const CODEX_UNKNOWN_MODEL: &str = "scripted";

/// Codex runs everything, and asks nobody.
pub const CODEX_UNBOUND: &[&str] = &["--sandbox", "danger-full-access"];

/// Codex writes in the workspace, and asks a reviewing model about the rest; without this, `codex exec` never asks. The
/// temporary folder is not writable, because this checkout may be in it.
pub const CODEX_REVIEWED: &[&str] = &[
    "--approve-for-me",
    "--config",
    "sandbox_workspace_write.exclude_slash_tmp=true",
    "--config",
    "sandbox_workspace_write.exclude_tmpdir_env_var=true",
];

/// The options of an agent's start.
#[derive(Debug, Clone, Copy)]
pub struct Options {
    /// Claude's `--permission-mode`.
    pub claude_permission_mode: &'static str,
    /// The arguments for Codex's sandbox and approvals.
    pub codex_sandbox: &'static [&'static str],
    /// The name of Codex's model, which determines the tools. The default offers them directly, with `apply_patch`.
    pub codex_model: &'static str,
    /// Codex runs hooks that its user has not trusted. Managed hooks need no trust.
    pub trusts_hooks: bool,
    /// More arguments, before the prompt.
    pub arguments: &'static [&'static str],
}

impl Default for Options {
    fn default() -> Options {
        Options {
            claude_permission_mode: "bypassPermissions",
            codex_sandbox: CODEX_UNBOUND,
            codex_model: "gpt-5.5",
            trusts_hooks: true,
            arguments: &[],
        }
    }
}

/// Starts `agent` with the prompt `go`.
pub fn start(
    agent: Agent,
    executable: &Path,
    home: &Home,
    model: &Model,
    options: &Options,
) -> Result<Running> {
    start_in(agent, executable, home, model, options, &[])
}

/// Starts the same with more variables.
pub fn start_in(
    agent: Agent,
    executable: &Path,
    home: &Home,
    model: &Model,
    options: &Options,
    environment: &[(&str, PathBuf)],
) -> Result<Running> {
    let mut command = home.command(executable);
    command.envs(environment.iter().cloned());
    match agent {
        Agent::Claude => claude(&mut command, model, options),
        Agent::Codex => codex(&mut command, model, options),
        Agent::Gemini => gemini(&mut command, model),
        Agent::Qwen => qwen(&mut command, model),
    }
    let prompt: &[&str] = match agent {
        Agent::Claude | Agent::Codex => &["go"],
        Agent::Gemini | Agent::Qwen => &["--prompt", "go"],
    };
    Running::start(command.args(options.arguments).args(prompt))
}

/// Starts `agent` and waits for its end.
pub fn run(
    agent: Agent,
    executable: &Path,
    home: &Home,
    model: &Model,
    options: &Options,
) -> Result<Finished> {
    start(agent, executable, home, model, options)?.finish(AGENT_LIMIT)
}

/// Returns the variables that connect Claude Code to a scripted model, and to nothing else.
pub(crate) fn claude_environment(model: &Model) -> Vec<(&'static str, String)> {
    let address = format!("http://127.0.0.1:{}", model.port());
    // `IS_SANDBOX` permits bypassPermissions for root.
    let fixed = ["CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "DISABLE_AUTOUPDATER", "IS_SANDBOX"];
    let fixed = fixed.into_iter().map(|name| (name, "1".to_owned()));
    let to_model = [("ANTHROPIC_BASE_URL", address), ("ANTHROPIC_API_KEY", "sk-ant-scripted".to_owned())];
    to_model.into_iter().chain(fixed).collect()
}

fn claude(command: &mut Command, model: &Model, options: &Options) {
    command.envs(claude_environment(model));
    command.args(["-p", "--output-format", "json", "--permission-mode", options.claude_permission_mode]);
}

fn codex(command: &mut Command, model: &Model, options: &Options) {
    command.args(["exec", "--json"]).args(codex_arguments(model, options));
}

/// Returns the arguments that connect Codex to a scripted model, and its permissions.
pub(crate) fn codex_arguments(model: &Model, options: &Options) -> Vec<String> {
    let address = format!("model_providers.scripted.base_url=\"http://127.0.0.1:{}/v1\"", model.port());
    let trust: &[&str] = if options.trusts_hooks { &["--dangerously-bypass-hook-trust"] } else { &[] };
    let fixed = ["-m", options.codex_model, "-c", &address];
    fixed.iter().chain(options.codex_sandbox).chain(trust).map(|word| (*word).to_owned()).collect()
}

/// Gemini CLI offers its model no shell unless everything runs.
fn gemini(command: &mut Command, model: &Model) {
    command.env("GOOGLE_GEMINI_BASE_URL", format!("http://127.0.0.1:{}", model.port()));
    command.env("GEMINI_API_KEY", "scripted").env("GEMINI_CLI_TRUST_WORKSPACE", "true");
    command.env("GEMINI_CLI_NO_RELAUNCH", "true");
    command.args(["--yolo", "--model", "gemini-2.5-pro"]);
}

/// Without a person, Qwen Code declines a shell call before it asks its hooks, unless everything runs.
fn qwen(command: &mut Command, model: &Model) {
    command.envs(qwen_environment(model)).arg("--yolo");
}

/// Returns the variables that connect Qwen Code to a scripted model.
pub(crate) fn qwen_environment(model: &Model) -> Vec<(&'static str, String)> {
    let address = format!("http://127.0.0.1:{}/v1", model.port());
    let fixed =
        [("OPENAI_API_KEY", "scripted"), ("OPENAI_MODEL", "scripted"), ("QWEN_CODE_NO_RELAUNCH", "1")];
    let fixed = fixed.into_iter().map(|(name, value)| (name, value.to_owned()));
    std::iter::once(("OPENAI_BASE_URL", address)).chain(fixed).collect()
}
