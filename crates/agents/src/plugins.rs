//! Where Claude Code (2.1.330, measured) takes hooks from besides its settings files: plugins, and what its command line names. Texts
//! in, paths out; it must not know what lies there.

use serde_json::Value as Json;

use crate::agent::AgentId;

/// A plugin that is installed: `name@marketplace`, and a folder that its files may be read from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InstalledPlugin {
    /// As `enabledPlugins` names it.
    pub name: String,
    /// The folder.
    pub root: String,
}

/// Something on a command line that may bring hooks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum GivenHooks {
    /// Settings, as a text.
    Settings(String),
    /// The path of a file of settings.
    SettingsFile(String),
    /// The path of a plugin, or of a folder of plugins.
    Plugin(String),
    /// A plugin that is not a folder: the flag and its value.
    Unread(String),
}

/// Below the agent's own directory: what is installed, and from where.
pub const INSTALLED_PLUGINS: &str = "plugins/installed_plugins.json";
/// The marketplaces that plugins come from.
pub const KNOWN_MARKETPLACES: &str = "plugins/known_marketplaces.json";
/// Below a marketplace: what it offers.
pub const MARKETPLACE: &str = ".claude-plugin/marketplace.json";

/// Reads `installed_plugins.json`: `{"plugins": {NAME: [{"installPath": ..}]}}`, formerly without the list.
pub fn installed_plugins(text: &str) -> Vec<InstalledPlugin> {
    let json: Json = serde_json::from_str(text).unwrap_or_default();
    let plugins = json.get("plugins").and_then(Json::as_object).into_iter().flatten();
    let installed = plugins.flat_map(|(name, places)| {
        let places = places.as_array().map_or(std::slice::from_ref(places), Vec::as_slice);
        let roots = places.iter().filter_map(|place| place.get("installPath")?.as_str());
        roots.map(|root| InstalledPlugin { name: name.clone(), root: root.to_owned() })
    });
    installed.collect()
}

/// Reads `known_marketplaces.json`: the name of each one and its folder. Plugins of a folder are read from there, not from the copy
/// that was installed.
pub fn marketplaces(text: &str) -> Vec<(String, String)> {
    let json: Json = serde_json::from_str(text).unwrap_or_default();
    let all = json.as_object().into_iter().flatten();
    all.filter_map(|(name, place)| Some((name.clone(), place.get("installLocation")?.as_str()?.to_owned())))
        .collect()
}

/// Reads a `marketplace.json`: the name of each plugin and its folder, relative to the marketplace's.
pub fn offered_plugins(text: &str) -> Vec<(String, String)> {
    let json: Json = serde_json::from_str(text).unwrap_or_default();
    let all = json.get("plugins").and_then(Json::as_array).into_iter().flatten();
    all.filter_map(|plugin| {
        Some((plugin.get("name")?.as_str()?.to_owned(), plugin.get("source")?.as_str()?.to_owned()))
    })
    .collect()
}

/// Files of hooks that a `plugin.json` names, relative to the plugin.
pub fn named_hook_files(manifest: &str) -> Vec<String> {
    let json: Json = serde_json::from_str(manifest).unwrap_or_default();
    let named =
        json.get("hooks").map(|hooks| hooks.as_array().map_or(std::slice::from_ref(hooks), Vec::as_slice));
    named.into_iter().flatten().filter_map(Json::as_str).map(str::to_owned).collect()
}

/// What an agent's command line brings. What is no text is passed over: neither is it for the agent.
pub fn given_hooks<A: AsRef<[u8]>>(agent: AgentId, arguments: &[A]) -> Vec<GivenHooks> {
    if agent != AgentId::Claude {
        return Vec::new();
    }
    let words: Vec<&str> =
        arguments.iter().map(|word| str::from_utf8(word.as_ref()).unwrap_or_default()).collect();
    let mut given = Vec::new();
    for (at, word) in words.iter().enumerate() {
        let (flag, value) = match word.split_once('=') {
            Some((flag, value)) => (flag, value),
            None => (*word, words.get(at + 1).copied().unwrap_or_default()),
        };
        let is_archive = || std::path::Path::new(value).extension().is_some_and(|ending| ending == "zip");
        given.extend(match flag {
            "--settings" if value.trim_start().starts_with('{') => {
                Some(GivenHooks::Settings(value.to_owned()))
            }
            "--settings" => Some(GivenHooks::SettingsFile(value.to_owned())),
            "--plugin-dir" if !is_archive() => Some(GivenHooks::Plugin(value.to_owned())),
            "--plugin-dir" | "--plugin-url" => Some(GivenHooks::Unread(format!("{flag} {value}"))),
            _ => None,
        });
    }
    given
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_installed_is_found() {
        let one = |name: &str, root: &str| InstalledPlugin { name: name.to_owned(), root: root.to_owned() };
        // As 2.1.330 writes it.
        let text = r#"{"version":2,"plugins":{"guard@local":[{"scope":"user","installPath":"/h/.claude/plugins/cache/local/guard/1.0.0","version":"1.0.0"},{"scope":"project","installPath":"/x"}]}}"#;
        let root = "/h/.claude/plugins/cache/local/guard/1.0.0";
        assert_eq!(installed_plugins(text), [one("guard@local", root), one("guard@local", "/x")]);
        assert_eq!(installed_plugins(r#"{"plugins":{"a@b":{"installPath":"/y"}}}"#), [one("a@b", "/y")]);
        let known = r#"{"local":{"source":{"source":"directory","path":"/m"},"installLocation":"/m"},"x":1}"#;
        assert_eq!(marketplaces(known), [("local".to_owned(), "/m".to_owned())]);
        let offered = r#"{"name":"local","plugins":[{"name":"guard","source":"./plugs/guard"},{"name":"far","source":{"source":"github"}}]}"#;
        assert_eq!(offered_plugins(offered), [("guard".to_owned(), "./plugs/guard".to_owned())]);
        assert_eq!(named_hook_files(r#"{"hooks":"./h.json"}"#), ["./h.json"]);
        assert_eq!(named_hook_files(r#"{"hooks":["a.json",{"hooks":{}},"b.json"]}"#), ["a.json", "b.json"]);
        for text in ["", "{", "[]", "1", r#"{"plugins":[1]}"#, r#"{"plugins":{"a":[1]}}"#, r#"{"hooks":{}}"#]
        {
            assert_eq!(
                (installed_plugins(text), marketplaces(text), offered_plugins(text), named_hook_files(text)),
                Default::default(),
                "{text}"
            );
        }
    }

    #[test]
    fn a_command_line_brings_hooks() {
        let check = |line: &[&str], expected: &[GivenHooks]| {
            assert_eq!(given_hooks(AgentId::Claude, line), expected, "{line:?}");
        };
        let text = |text: &str| text.to_owned();
        check(&["claude", "-p", "go"], &[]);
        check(&["claude", "--settings", " {}", "go"], &[GivenHooks::Settings(text(" {}"))]);
        check(&["claude", "--settings=x.json"], &[GivenHooks::SettingsFile(text("x.json"))]);
        check(
            &["claude", "--plugin-dir", "a", "--plugin-dir=b.zip", "--plugin-url", "https://x/y"],
            &[
                GivenHooks::Plugin(text("a")),
                GivenHooks::Unread(text("--plugin-dir b.zip")),
                GivenHooks::Unread(text("--plugin-url https://x/y")),
            ],
        );
        check(&["claude", "--settings"], &[GivenHooks::SettingsFile(text(""))]);
        assert_eq!(given_hooks(AgentId::Codex, &["codex", "--settings", "{}"]), []);
    }
}
