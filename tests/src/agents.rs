//! The pinned agents of `agents.json`: where `cargo xtask test` installs them, and the words in which they differ. It
//! must not know what a test does with them.

use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use serde_json::{Value as Json, json};

use crate::home::Home;
use crate::model::{Api, Block};

/// The pins: a list of `agent`, npm `package`, exact `version` and, relative to [`folder`], the native `executables` of
/// all platforms. `cargo xtask test` installs what this table names.
pub const PINS: &str = include_str!("../agents.json");

/// How Gemini CLI is to identify itself, and that it sends nothing to anybody else.
const GEMINI_SETTINGS: &str = r#"{
  "security": { "auth": { "selectedType": "gemini-api-key" } },
  "privacy": { "usageStatisticsEnabled": false },
  "general": { "enableAutoUpdate": false }
}
"#;

/// The same of Qwen Code.
const QWEN_SETTINGS: &str = r#"{
  "security": { "auth": { "selectedType": "openai" } },
  "privacy": { "usageStatisticsEnabled": false },
  "general": { "enableAutoUpdate": false },
  "model": { "name": "scripted" }
}
"#;

/// An agent that tests drive.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Agent {
    /// Claude Code.
    Claude,
    /// OpenAI Codex CLI.
    Codex,
    /// Gemini CLI.
    Gemini,
    /// Qwen Code.
    Qwen,
}

impl Agent {
    /// Returns its name on castellan's command line.
    pub fn name(self) -> &'static str {
        match self {
            Agent::Claude => "claude",
            Agent::Codex => "codex",
            Agent::Gemini => "gemini",
            Agent::Qwen => "qwen",
        }
    }

    /// Returns the value of field `agent.name`.
    pub fn field(self) -> &'static str {
        match self {
            Agent::Claude => "claude_code",
            Agent::Codex => "codex",
            Agent::Gemini => "gemini_cli",
            Agent::Qwen => "qwen_code",
        }
    }

    /// Returns the event at which it asks about a call.
    pub fn question(self) -> &'static str {
        match self {
            Agent::Claude | Agent::Codex | Agent::Qwen => "PreToolUse",
            Agent::Gemini => "BeforeTool",
        }
    }

    /// Whether it tells its hooks the id by which the model knows a call.
    pub(crate) fn tells_ids(self) -> bool {
        match self {
            Agent::Claude | Agent::Codex => true,
            Agent::Gemini | Agent::Qwen => false,
        }
    }

    /// Whether it tells its hooks that a call is a sub-agent's.
    pub(crate) fn marks_subagents(self) -> bool {
        match self {
            Agent::Claude | Agent::Codex | Agent::Qwen => true,
            Agent::Gemini => false,
        }
    }

    /// Returns the user's file in which castellan registers.
    pub fn settings(self, home: &Home) -> PathBuf {
        match self {
            Agent::Claude => home.user().join(".claude/settings.json"),
            Agent::Codex => home.codex().join("hooks.json"),
            Agent::Gemini => home.user().join(".gemini/settings.json"),
            Agent::Qwen => home.user().join(".qwen/settings.json"),
        }
    }

    /// Writes what it needs to know of its model before castellan is installed.
    pub fn prepare(self, home: &Home) -> Result<()> {
        match self {
            Agent::Claude | Agent::Codex => Ok(()),
            Agent::Gemini => home.write(&self.settings(home), GEMINI_SETTINGS),
            Agent::Qwen => home.write(&self.settings(home), QWEN_SETTINGS),
        }
    }

    /// Returns the API that it reaches its model by.
    pub fn api(self) -> Api {
        match self {
            Agent::Claude => Api::Anthropic,
            Agent::Codex => Api::OpenAi,
            Agent::Gemini => Api::Gemini,
            Agent::Qwen => Api::Chat,
        }
    }

    /// Returns a call of its shell tool.
    pub fn shell(self, command: &str) -> Block {
        match self {
            Agent::Claude => Block::call("Bash", json!({"command": command, "description": "a test"})),
            Agent::Codex => Block::call("exec_command", json!({"cmd": command})),
            Agent::Gemini | Agent::Qwen => {
                Block::call("run_shell_command", json!({"command": command, "description": "a test"}))
            }
        }
    }

    /// Returns its executable. `None` after saying loudly that a test does not run, because the pinned version is not
    /// installed; with `CI=true` in the environment that is an error.
    pub fn executable(self) -> Result<Option<PathBuf>> {
        let missing = match self.installed()? {
            Ok(executable) => return Ok(Some(executable)),
            Err(missing) => missing,
        };
        not_run(&missing)?;
        Ok(None)
    }

    fn installed(self) -> Result<Result<PathBuf, String>> {
        let pins: Json = serde_json::from_str(PINS)?;
        let pins = pins.as_array().context("agents.json is not a list")?;
        let pin = pins
            .iter()
            .find(|pin| text(pin, "agent") == self.name())
            .context("agents.json lacks an agent")?;
        let (package, version) = (text(pin, "package"), text(pin, "version"));
        let manifest = folder().join("node_modules").join(package).join("package.json");
        let found: Json = std::fs::read(manifest)
            .ok()
            .and_then(|json| serde_json::from_slice(&json).ok())
            .unwrap_or_default();
        if text(&found, "version") != version {
            return Ok(Err(format!(
                "`{package}` {version} is not in `target/agents`; run `cargo xtask test`"
            )));
        }
        let executables =
            pin.get("executables").and_then(Json::as_array).context("agents.json lacks executables")?;
        let mut executables = executables.iter().filter_map(Json::as_str).map(|path| folder().join(path));
        let missing =
            || format!("`{package}` {version} has no executable for this platform in `target/agents`");
        Ok(executables.find(|path| path.is_file()).ok_or_else(missing))
    }
}

/// Says on the terminal, past the test runner's capture, that the current test does not run. An error with `CI=true`.
pub fn not_run(why: &str) -> Result<()> {
    let test = std::thread::current().name().unwrap_or("a test").to_owned();
    if std::env::var_os("CI").is_some_and(|ci| ci == "true") {
        bail!("`{test}` cannot run: {why}");
    }
    writeln!(std::io::stderr(), "\n*** NOT RUN: {test}: {why}\n")?;
    Ok(())
}

/// Returns the folder that the agents are installed into, by `npm install --prefix`.
pub fn folder() -> PathBuf {
    target().join("agents")
}

/// Returns the workspace's `target` folder, wherever this build puts its own output.
pub(crate) fn target() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../target")
}

fn text<'a>(value: &'a Json, key: &str) -> &'a str {
    value.get(key).and_then(Json::as_str).unwrap_or_default()
}
