//! The configuration that castellan wrote for the scripted Falco, and the rules in it.

use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use castellan_rows::{Generation, HEX, Identity, Receiver, UID, plain_fields};
use castellan_rules::{Options, RuleSet, Severity, Source};

use super::play::Address;

/// The values that a Falco needs.
#[derive(Debug)]
pub(super) struct Config {
    pub(super) rules: PathBuf,
    pub(super) socket: PathBuf,
    pub(super) user: u32,
    pub(super) key: [u8; 32],
    pub(super) generation: Generation,
    pub(super) alerts: Address,
    pub(super) path: String,
    pub(super) agent: String,
}

impl Config {
    /// Reads a file whose values are each on one line.
    pub(super) fn read(file: &Path) -> Result<Config> {
        let text = std::fs::read_to_string(file).with_context(|| format!("`{}`", file.display()))?;
        for line in ["rule_matching: all", "priority: debug", "  kind: nodriver", "buffered_outputs: false"] {
            ensure!(text.lines().any(|own| own == line), "no line `{line}`");
        }
        let value = |begin: &str| -> Result<String> {
            let line = text.lines().find_map(|line| line.trim_start().strip_prefix(begin));
            let value = line.with_context(|| format!("no `{begin}`"))?.trim();
            Ok(serde_json::from_str(value).unwrap_or_else(|_| value.to_owned()))
        };
        let url = value("url:")?;
        let (address, path) = url
            .strip_prefix("http://")
            .and_then(|rest| rest.split_once('/'))
            .with_context(|| format!("not an address: {url}"))?;
        let hex = |begin| {
            let text: String = value(begin)?;
            text.strip_prefix(HEX).and_then(Generation::parse).context("no hex")
        };
        let rules = text.lines().skip_while(|line| *line != "rules_files:").nth(1).context("no rules")?;
        let rules: PathBuf = serde_json::from_str(rules.trim_start_matches("  - "))?;
        Ok(Config {
            rules,
            socket: value("socket:")?.into(),
            user: value("user:")?.strip_prefix(UID).context("no user")?.parse()?,
            key: hex("key:")?.0,
            generation: hex("generation:")?,
            alerts: address.parse()?,
            path: format!("/{path}"),
            agent: value("user_agent:")?,
        })
    }
}

impl Config {
    /// Returns the plugin's end of the channel, with these rules or those of another generation.
    pub(super) fn receiver(&self, other: Option<Generation>) -> Receiver {
        let generation = other.unwrap_or(self.generation);
        Receiver::new(self.socket.clone(), Identity { key: self.key, generation }, self.user, peer_user)
    }
}

fn peer_user(stream: &UnixStream) -> std::io::Result<u32> {
    Ok(rustix::net::sockopt::socket_peercred(stream)?.uid.as_raw())
}

/// Loads exported rules.
pub(super) fn load(text: &str) -> Result<RuleSet> {
    let source = Source { name: "exported.yaml".to_owned(), text: text.to_owned() };
    let loaded =
        castellan_rules::load(&[source], &plain_fields(), &Options { lints: false, ..Options::default() });
    let errors: Vec<_> =
        loaded.problems.iter().filter(|problem| problem.severity == Severity::Error).collect();
    ensure!(errors.is_empty(), "the rules do not load: {errors:?}");
    Ok(loaded.rules)
}
