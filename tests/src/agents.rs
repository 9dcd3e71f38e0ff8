//! The pinned agents of `agents.json`: the installation folder used by `cargo xtask test`, and the names that differ
//! between the agents. Must not depend on what a test does with them.

use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use serde_json::{Value as Json, json};

use crate::home::Home;
use crate::model::{Api, Block};

/// The pins: a list of `agent`, npm `package`, exact `version` and, relative to [`folder`], the native `executables` of
/// all platforms. `cargo xtask test` installs them.
pub const PINS: &str = include_str!("../agents.json");

/// Gemini CLI's authentication, with statistics and updates switched off.
const GEMINI_SETTINGS: &str = r#"{
  "security": { "auth": { "selectedType": "gemini-api-key" } },
  "privacy": { "usageStatisticsEnabled": false },
  "general": { "enableAutoUpdate": false }
}
"#;

/// Settings of Qwen Code, with statistics and updates switched off.
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

    /// Returns the event of the hook that judges a call.
    pub fn question(self) -> &'static str {
        match self {
            Agent::Claude | Agent::Codex | Agent::Qwen => "PreToolUse",
            Agent::Gemini => "BeforeTool",
        }
    }

    /// Returns true if the agent sends its hooks the model's id of a call.
    pub(crate) fn tells_ids(self) -> bool {
        match self {
            Agent::Claude | Agent::Codex => true,
            Agent::Gemini | Agent::Qwen => false,
        }
    }

    /// Returns true if the agent marks a sub-agent's call for its hooks.
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

    /// Writes the settings for the scripted model before castellan is installed.
    pub fn prepare(self, home: &Home) -> Result<()> {
        match self {
            Agent::Claude | Agent::Codex => Ok(()),
            Agent::Gemini => home.write(&self.settings(home), GEMINI_SETTINGS),
            Agent::Qwen => home.write(&self.settings(home), QWEN_SETTINGS),
        }
    }

    /// Returns the API of its model.
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

    /// Returns its executable. Returns `None`, after a warning on the terminal, if the pinned version is not installed.
    /// With `CI=true` in the environment that is an error.
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

/// Warns on the terminal, past the test runner's capture, that the test does not run. An error with `CI=true`.
pub fn not_run(why: &str) -> Result<()> {
    let test = std::thread::current().name().unwrap_or("a test").to_owned();
    if std::env::var_os("CI").is_some_and(|ci| ci == "true") {
        bail!("`{test}` cannot run: {why}");
    }
    writeln!(std::io::stderr(), "\n*** NOT RUN: {test}: {why}\n")?;
    Ok(())
}

/// Returns the folder into which `npm install --prefix` installs the agents.
pub fn folder() -> PathBuf {
    target().join("agents")
}

/// Returns the workspace's `target` folder, independent of this build's output folder.
pub(crate) fn target() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../target")
}

fn text<'a>(value: &'a Json, key: &str) -> &'a str {
    value.get(key).and_then(Json::as_str).unwrap_or_default()
}
