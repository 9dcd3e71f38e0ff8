//! The configuration of a Falco that judges calls in castellan's place, and the fragment for a Falco that only gets copies
//! of them.

use castellan_rows::{HEX, UID};

use crate::export::quoted;

/// The values of a configuration.
#[derive(Debug, Clone, Copy)]
pub struct EngineConfig<'c> {
    /// Absolute path of the exported rules ([`crate::export::for_engine`]).
    pub rules: &'c str,
    /// Absolute path of the plugin's library.
    pub library: &'c str,
    /// Absolute path of the socket for rows.
    pub socket: &'c str,
    /// User id of the daemon.
    pub user: u32,
    /// The key of the channel in lower-case hex.
    pub key: &'c str,
    /// The generation of the rules in lower-case hex.
    pub generation: &'c str,
    /// The address for alerts, with the secret path.
    pub url: &'c str,
    /// The secret user agent of alerts.
    pub user_agent: &'c str,
}

/// Settings of a Falco that castellan alone uses. Each default of Falco that could load another file, leave a rule out,
/// hold an alert back or open a port is set here.
const ALONE: &str = "\
# Written by castellan. It holds secrets, and castellan writes it anew at each start.
config_files: []
watch_config_files: false
engine:
  kind: nodriver
priority: debug
rule_matching: all
outputs_queue:
  capacity: 0
buffered_outputs: false
json_output: true
json_include_output_property: true
json_include_message_property: false
json_include_output_fields_property: true
json_include_tags_property: true
log_level: info
log_stderr: true
log_syslog: false
stdout_output:
  enabled: false
syslog_output:
  enabled: false
file_output:
  enabled: false
program_output:
  enabled: false
grpc:
  enabled: false
grpc_output:
  enabled: false
webserver:
  enabled: false
metrics:
  enabled: false
";

/// The values of a fragment for a Falco that gets copies of judged calls.
#[derive(Debug, Clone, Copy)]
pub struct SourceConfig<'c> {
    /// Absolute path of the plugin's library.
    pub library: &'c str,
    /// Absolute path of the socket for copies.
    pub socket: &'c str,
    /// User id of the daemon.
    pub user: u32,
    /// The key of the channel in lower-case hex.
    pub key: &'c str,
    /// The generation of the copies in lower-case hex.
    pub generation: &'c str,
}

/// Returns the YAML of the fragment for the `config.d` of a Falco that has the plugin as one more source and decides nothing.
pub fn source(config: &SourceConfig<'_>) -> String {
    format!(
        "# Written by castellan for a Falco of yours: it gets a copy of each judged call, and decides nothing.\n{}",
        plugin(config)
    )
}

/// Returns the YAML of the whole configuration of a Falco of its own, with its secrets.
pub fn alone(config: &EngineConfig<'_>) -> String {
    let EngineConfig { rules, library, socket, user, key, generation, url, user_agent } = *config;
    let plugin = plugin(&SourceConfig { library, socket, user, key, generation });
    let [rules, url, user_agent] = [rules, url, user_agent].map(quoted);
    format!(
        "\
{ALONE}rules_files:
  - {rules}
{plugin}append_output:
  - match:
      source: coding_agent
    extra_fields: [row.nonce]
http_output:
  enabled: true
  url: {url}
  user_agent: {user_agent}
  insecure: false
  echo: false
  compress_uploads: false
  keep_alive: true
"
    )
}

/// Returns the keys that load the plugin.
fn plugin(config: &SourceConfig<'_>) -> String {
    let SourceConfig { library, socket, user, key, generation } = *config;
    let [library, socket] = [library, socket].map(quoted);
    format!(
        "\
load_plugins: [coding_agent]
plugins:
  - name: coding_agent
    library_path: {library}
    init_config:
      socket: {socket}
      user: \"{UID}{user}\"
      key: \"{HEX}{key}\"
      generation: \"{HEX}{generation}\"
"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    const CONFIG: EngineConfig<'static> = EngineConfig {
        rules: "/home/a \"b\"/rules.yaml",
        library: "/opt/castellan/libcoding_agent.so",
        socket: "/home/a: #b/rows.sock",
        user: 1000,
        key: "0123",
        generation: "4567",
        url: "http://127.0.0.1:4040/89ab",
        user_agent: "castellan-cdef",
    };

    #[test]
    fn values_are_quoted() {
        let text = alone(&CONFIG);
        for line in [
            r#"  - "/home/a \"b\"/rules.yaml""#,
            r#"      socket: "/home/a: #b/rows.sock""#,
            // Texts of digits alone would be numbers.
            r#"      user: "uid:1000""#,
            r#"      key: "hex:0123""#,
            r#"      generation: "hex:4567""#,
            r#"  url: "http://127.0.0.1:4040/89ab""#,
        ] {
            assert!(text.lines().any(|own| own == line), "{line}\n{text}");
        }
    }

    #[test]
    fn the_documented_fragment_is_the_written_one() {
        let written = source(&SourceConfig {
            library: "/usr/share/falco/plugins/libcoding_agent.so",
            socket: "/home/ada/.local/share/castellan/run/falco/events/s",
            user: 1000,
            key: "KEY",
            generation: &"0".repeat(64),
        });
        let documented = include_str!("../../../docs/falco.md");
        assert!(documented.contains(&format!("```yaml\n{written}```")), "{written}");
    }

    /// A default of Falco could lose an alert or leave out a rule.
    #[test]
    fn a_falco_of_its_own_leaves_nothing_to_defaults() {
        let text = alone(&CONFIG);
        for line in [
            "config_files: []",
            "watch_config_files: false",
            "  kind: nodriver",
            "rule_matching: all",
            "priority: debug",
        ] {
            assert!(text.lines().any(|own| own == line), "{line}");
        }
        let mut keys: Vec<&str> = text
            .lines()
            .filter(|line| !line.starts_with([' ', '#']))
            .filter_map(|line| line.split(':').next())
            .collect();
        let count = keys.len();
        keys.sort_unstable();
        keys.dedup();
        assert_eq!(keys.len(), count, "each key once");
    }
}
