//! The pinned agents (`tests/agents.json`) in a cache below the target folder.

use std::process::Command;
use std::time::Instant;

use anyhow::{Context, ensure};
use serde_json::Value;

use super::steps::run_command;
use crate::root;

/// The agents that the `agents` suite drives: the same table that the tests read.
const PINS: &str = include_str!("../../../tests/agents.json");

/// Installs the agents, unless the cache has just these. Without npm the suite names what it cannot run; in CI that is
/// a failure.
pub(super) fn install(until: Instant) -> anyhow::Result<()> {
    let agents = pinned()?;
    let cache = root()?.join("target/agents");
    let installed = cache.join("installed");
    let wanted = agents.join("\n");
    if std::fs::read_to_string(&installed).is_ok_and(|present| present == wanted) {
        return Ok(());
    }
    if Command::new("npm").arg("--version").output().is_err() {
        eprintln!("\n!! npm is missing: the tests with real agents ({}) DO NOT RUN\n", agents.join(", "));
        ensure!(
            std::env::var_os("CI").is_none_or(|ci| ci != "true"),
            "in CI the real-agent tests must run: install Node.js and npm"
        );
        return Ok(());
    }
    std::fs::create_dir_all(&cache)?;
    let prefix = cache.display().to_string();
    let mut words =
        vec!["npm", "install", "--prefix", &prefix, "--no-audit", "--no-fund", "--ignore-scripts"];
    words.extend(agents.iter().map(String::as_str));
    run_command(&words, until)?;
    std::fs::write(installed, wanted).context("the agents' cache cannot be marked complete")
}

/// `package@version` of each pin.
fn pinned() -> anyhow::Result<Vec<String>> {
    let pins: Vec<Value> = serde_json::from_str(PINS).context("tests/agents.json is not a list")?;
    let text = |pin: &Value, key| pin.get(key).and_then(Value::as_str).map(str::to_owned);
    let package = |pin: &Value| Some(format!("{}@{}", text(pin, "package")?, text(pin, "version")?));
    pins.iter()
        .map(package)
        .collect::<Option<_>>()
        .context("a pin in tests/agents.json lacks package or version")
}
