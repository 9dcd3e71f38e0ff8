//! [`Rig`]: a home with a daemon and a secret that no sandbox may show.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result};
use castellan_tests::agents::Agent;
use castellan_tests::home::Home;
use castellan_tests::process::{Finished, Running, processes_of};
use castellan_tests::wait;
use rustix::process::Pid;
use serde_json::json;

pub(crate) const LIMIT: Duration = Duration::from_secs(30);

/// The text of the secret.
pub(crate) const CANARY: &str = "a-secret-that-stays-outside";

/// A home with a daemon, and castellan's hooks in the settings of Claude Code.
#[derive(Debug)]
pub(crate) struct Rig {
    pub(crate) home: Home,
}

impl Rig {
    /// `sandbox`: the keys of the table `sandbox`. Calls without a rule are allowed.
    pub(crate) fn new(sandbox: &str) -> Result<Rig> {
        let config = format!("version = 1\ndefault = \"allow\"\n[sandbox]\n{sandbox}\n");
        let home = Home::with_castellan("boxed", &config, RULES)?;
        home.register(Agent::Claude)?;
        Rig::of(home)
    }

    /// The same in a home whose daemon does not run.
    pub(crate) fn of(home: Home) -> Result<Rig> {
        home.write(&secret(&home), CANARY)?;
        home.start_daemon()?;
        Ok(Rig { home })
    }

    /// Returns a command `castellan WORDS`.
    pub(crate) fn command(&self, words: &[&str]) -> Command {
        let mut command = self.home.command(&self.home.bin().join("castellan"));
        command.arg("--home").arg(self.home.castellan()).args(words);
        command
    }

    /// Runs `castellan sandbox run OPTIONS -- sh -c SCRIPT`.
    pub(crate) fn inside(&self, options: &[&str], script: &str) -> Result<Finished> {
        let words = [&["sandbox", "run"], options, &["--", "sh", "-c", script]].concat();
        finish(&mut self.command(&words))
    }

    /// Writes an agent that is a shell script.
    pub(crate) fn agent(&self, script: &str) -> Result<PathBuf> {
        let agent = self.home.bin().join("agents/claude");
        self.home.write(&agent, &format!("#!/bin/sh\n{script}\n"))?;
        fs::set_permissions(&agent, Permissions::from_mode(0o755))?;
        Ok(agent)
    }

    /// Returns a command `castellan run --sandbox OPTIONS -- AGENT ARGUMENTS`.
    pub(crate) fn agent_command(&self, agent: &Path, options: &[&str], arguments: &[&str]) -> Command {
        let mut command = self.command(&[&["run", "--sandbox"], options].concat());
        command.arg("--").arg(agent).args(arguments);
        command
    }

    pub(crate) fn file(&self, name: &str) -> PathBuf {
        self.home.workspace().join(name)
    }

    pub(crate) fn secret(&self) -> PathBuf {
        secret(&self.home)
    }

    /// The arguments of the records with this action.
    pub(crate) fn notes(&self, action: &str) -> Result<Vec<String>> {
        let records = self.home.records()?;
        let notes =
            records.iter().map(|record| &record["control"]).filter(|control| control["action"] == action);
        Ok(notes.map(|control| control["argument"].as_str().unwrap_or_default().to_owned()).collect())
    }

    /// Waits for the process `sleep SECONDS` in the workspace. Outside, it has another number than inside.
    pub(crate) fn sleeper(&self, seconds: &str) -> Result<Pid> {
        let words = format!("sleep\0{seconds}\0");
        let find = || {
            Ok(processes_of(&self.home.workspace()).into_iter().find(|pid| {
                let path = format!("/proc/{}/cmdline", pid.as_raw_nonzero());
                fs::read(path).is_ok_and(|found| found == words.as_bytes())
            }))
        };
        wait::until(LIMIT, find)?.with_context(|| format!("no `sleep {seconds}`"))
    }
}

/// Runs a command to its end, for at most [`LIMIT`].
pub(crate) fn finish(command: &mut Command) -> Result<Finished> {
    Running::start(command)?.finish(LIMIT)
}

/// A line of Claude Code's stream about a response of 40 tokens.
pub(crate) fn response(id: &str) -> String {
    let usage = json!({"input_tokens": 10, "output_tokens": 20, "cache_creation_input_tokens": 10});
    let message = json!({"id": id, "content": [], "usage": usage});
    json!({"type": "assistant", "session_id": "s-1", "message": message}).to_string() + "\n"
}

fn secret(home: &Home) -> PathBuf {
    home.user().join(".ssh/id_canary")
}

/// One rule that denies: proof that a hook inside reaches the daemon outside.
pub(crate) const RULES: &str = r#"
- rule: Deny a word
  desc: A test.
  condition: cmd.line contains "forbidden-word"
  output: this word is denied
  priority: CRITICAL
  source: coding_agent
  tags: [coding_agent_deny]
"#;
