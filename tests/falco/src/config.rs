//! [`Config`]: the values that a Falco needs of the configuration that castellan wrote.

use std::io;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use castellan_rows::{Generation, HEX, Identity, UID};
use serde_json::{Value, json};

/// Lines without which Falco would report too little.
const NEEDED: [&str; 4] =
    ["rule_matching: all", "priority: debug", "  kind: nodriver", "buffered_outputs: false"];

/// The values.
#[derive(Debug)]
pub struct Config {
    /// The exported rules.
    pub rules: PathBuf,
    /// The plugin's library.
    pub library: PathBuf,
    /// The socket for rows.
    pub socket: PathBuf,
    /// User id of the daemon.
    pub user: u32,
    /// Key of the channel, and generation of the rules.
    pub identity: Identity,
    /// The listener for alerts.
    pub alerts: SocketAddr,
    /// Path of the address for alerts, from its first slash.
    pub path: String,
    /// The user agent of alerts.
    pub agent: String,
}

impl Config {
    /// Reads a file in which each value is on one line. The error names what is missing.
    pub fn read(file: &Path) -> io::Result<Config> {
        let text = std::fs::read_to_string(file)?;
        if let Some(missing) = NEEDED.iter().find(|needed| !text.lines().any(|line| line == **needed)) {
            return Err(wrong(format!("no line `{missing}`")));
        }
        let string = |begin: &str| {
            let value: Value = value(&text, begin)?;
            value.as_str().map(str::to_owned).ok_or_else(|| wrong(format!("`{begin}` is no text")))
        };
        let url = string("url:")?;
        let address = url.strip_prefix("http://").and_then(|rest| rest.split_once('/'));
        let (address, path) = address.ok_or_else(|| wrong(format!("not an address: {url}")))?;
        let hex = |begin: &str| {
            let hash = string(begin)?.strip_prefix(HEX).and_then(Generation::parse);
            hash.ok_or_else(|| wrong(format!("`{begin}` is no hash")))
        };
        let rules = text.lines().skip_while(|line| *line != "rules_files:").nth(1).unwrap_or_default();
        let rules: PathBuf = serde_json::from_str(rules.trim_start_matches("  - "))?;
        let user = string("user:")?.strip_prefix(UID).and_then(|user| user.parse().ok());
        Ok(Config {
            rules,
            library: string("library_path:")?.into(),
            socket: string("socket:")?.into(),
            user: user.ok_or_else(|| wrong("`user:` is no number".to_owned()))?,
            identity: Identity { key: hex("key:")?.0, generation: hex("generation:")? },
            alerts: address.parse().map_err(io::Error::other)?,
            path: format!("/{path}"),
            agent: string("user_agent:")?,
        })
    }

    /// Returns the plugin's `init_config`, as JSON.
    pub fn init_config(&self) -> String {
        let Identity { key, generation } = &self.identity;
        let settings = json!({
            "socket": self.socket, "user": format!("{UID}{}", self.user), "key": format!("{HEX}{}", Generation(*key)),
            "generation": format!("{HEX}{generation}"),
        });
        settings.to_string()
    }
}

/// Returns the value of the first line that begins so.
fn value(text: &str, begin: &str) -> io::Result<Value> {
    let line = text.lines().find_map(|line| line.trim_start().strip_prefix(begin));
    let line = line.ok_or_else(|| wrong(format!("no `{begin}`")))?;
    Ok(serde_json::from_str(line.trim())?)
}

fn wrong(why: String) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, why)
}
