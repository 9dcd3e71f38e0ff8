//! The values that a Falco needs of the configuration that castellan wrote.

use std::error::Error;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

/// The values.
#[derive(Debug)]
pub(crate) struct Config {
    pub(crate) rules: PathBuf,
    pub(crate) library: PathBuf,
    /// The plugin's `init_config`, as JSON.
    pub(crate) plugin: String,
    pub(crate) alerts: SocketAddr,
    /// Path of the address for alerts, from its first slash.
    pub(crate) path: String,
    pub(crate) agent: String,
}

impl Config {
    /// Reads a file in which each value is on one line.
    pub(crate) fn read(file: &Path) -> Result<Config, Box<dyn Error>> {
        let text = std::fs::read_to_string(file)?;
        let value = |begin: &str| -> Result<Value, Box<dyn Error>> {
            let line = text.lines().find_map(|line| line.trim_start().strip_prefix(begin));
            Ok(serde_json::from_str(line.ok_or(format!("no `{begin}`"))?.trim())?)
        };
        let string = |begin: &str| -> Result<String, Box<dyn Error>> {
            Ok(value(begin)?.as_str().ok_or(format!("`{begin}` is no text"))?.to_owned())
        };
        let rules = text.lines().skip_while(|line| *line != "rules_files:").nth(1);
        let rules: String = serde_json::from_str(rules.ok_or("no rules")?.trim_start_matches("  - "))?;
        let url = string("url:")?;
        let address = url.strip_prefix("http://").and_then(|rest| rest.split_once('/'));
        let (address, path) = address.ok_or("no address for alerts")?;
        let plugin = json!({
            "socket": value("socket:")?, "user": value("user:")?, "key": value("key:")?,
            "generation": value("generation:")?,
        });
        Ok(Config {
            rules: rules.into(),
            library: string("library_path:")?.into(),
            plugin: plugin.to_string(),
            alerts: address.parse()?,
            path: format!("/{path}"),
            agent: string("user_agent:")?,
        })
    }
}
