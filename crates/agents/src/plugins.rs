//! Files of the plugins of Claude Code (2.1.330, measured) and Codex, and of extensions: the installed plugins, their
//! sources, and the files that each names. Texts in, paths out; this module must not know the contents. A list of
//! unknown shape is an error: it may name any file.

use serde_json::{Value as Json, json};

use crate::agent::AgentId;

/// An installed plugin, `name@marketplace`, and a folder from which its files may be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InstalledPlugin {
    /// The name in `enabledPlugins`.
    pub name: String,
    /// The folder.
    pub root: String,
}

/// A plugin of a marketplace.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct OfferedPlugin {
    /// The name in the marketplace.
    pub name: String,
    /// The folders, relative to the marketplace's; empty if the plugin comes from elsewhere.
    pub roots: Vec<String>,
    /// The plugin's files according to the marketplace.
    pub files: PluginFiles,
    /// Hooks in the marketplace's own entry, in the form of [`crate::PLUGIN_HOOKS`].
    pub hooks: Option<String>,
}

/// Files of a plugin outside the default places, relative to the plugin.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct PluginFiles {
    /// Files of hooks.
    pub hooks: Vec<String>,
    /// Folders of skills, and files and folders of commands and sub-agents.
    pub texts: Vec<String>,
}

/// Below the agent's own directory: the installed plugins and their sources.
pub const INSTALLED_PLUGINS: &str = "plugins/installed_plugins.json";
/// The marketplaces that plugins come from.
pub const KNOWN_MARKETPLACES: &str = "plugins/known_marketplaces.json";
/// Below a marketplace: the offered plugins.
pub const MARKETPLACE: &str = ".claude-plugin/marketplace.json";
/// Below Codex's own directory: `MARKETPLACE/PLUGIN/VERSION`, the installed plugins.
pub const CACHED_PLUGINS: &str = "plugins/cache";

/// Below the agent's own directory: the extensions of Gemini CLI, one folder each.
pub const EXTENSIONS: &str = "extensions";

/// Returns the path of a plugin's manifest, relative to the plugin.
pub fn plugin_manifest(agent: AgentId) -> &'static str {
    agent.spec().plugin_manifest
}

/// The reason why a list or a manifest of plugins cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PluginError {
    /// The text is no JSON.
    #[error("not valid JSON: {0}")]
    Invalid(String),
    /// The text is another JSON value than an object.
    #[error("no JSON object")]
    NoObject,
    /// The installed plugins are no object.
    #[error("`plugins` is no object")]
    InstalledNoObject,
    /// The offered plugins are no list.
    #[error("`plugins` is no list")]
    OfferedNoList,
    /// An offered plugin has no name.
    #[error("a plugin has no `name`")]
    NoName,
    /// An installed plugin of this name has no folder.
    #[error("`{0}` has no `installPath`")]
    NoPath(String),
    /// A marketplace of this name has no folder.
    #[error("`{0}` has no `installLocation`")]
    NoLocation(String),
}

/// Reads `installed_plugins.json`: `{"plugins": {NAME: [{"installPath": ..}]}}`, formerly without the list.
pub fn installed_plugins(text: &str) -> Result<Vec<InstalledPlugin>, PluginError> {
    let json = object(text)?;
    let Some(plugins) = json.get("plugins") else { return Ok(Vec::new()) };
    let mut installed = Vec::new();
    for (name, places) in plugins.as_object().ok_or(PluginError::InstalledNoObject)? {
        for place in list(places) {
            let root = place.get("installPath").and_then(Json::as_str);
            let root = root.ok_or_else(|| PluginError::NoPath(name.clone()))?;
            installed.push(InstalledPlugin { name: name.clone(), root: root.to_owned() });
        }
    }
    Ok(installed)
}

/// Reads `known_marketplaces.json`: the name and folder of each marketplace. The agent reads plugins of a folder
/// marketplace from that folder, not from the installed copy.
pub fn marketplaces(text: &str) -> Result<Vec<(String, String)>, PluginError> {
    let json = object(text)?;
    let folder = |(name, place): (&String, &Json)| {
        let folder = place.get("installLocation").and_then(Json::as_str);
        Ok((name.clone(), folder.ok_or_else(|| PluginError::NoLocation(name.clone()))?.to_owned()))
    };
    json.as_object().into_iter().flatten().map(folder).collect()
}

/// Reads a `marketplace.json`.
pub fn offered_plugins(text: &str) -> Result<Vec<OfferedPlugin>, PluginError> {
    let json = object(text)?;
    let Some(plugins) = json.get("plugins") else { return Ok(Vec::new()) };
    // Paths may be relative to it.
    let base = json.get("metadata").and_then(|metadata| metadata.get("pluginRoot")).and_then(Json::as_str);
    let offered = |plugin: &Json| {
        let name = plugin.get("name").and_then(Json::as_str).ok_or(PluginError::NoName)?;
        let source = plugin.get("source").and_then(Json::as_str).into_iter();
        let roots = source.flat_map(|source| {
            [Some(source.to_owned()), base.map(|base| format!("{base}/{source}"))].into_iter().flatten()
        });
        Ok(OfferedPlugin {
            name: name.to_owned(),
            roots: roots.collect(),
            files: files(plugin),
            hooks: plugin.get("hooks").map(|hooks| json!({ "hooks": hooks }).to_string()),
        })
    };
    plugins.as_array().ok_or(PluginError::OfferedNoList)?.iter().map(offered).collect()
}

/// Reads the files that a `plugin.json` names.
pub fn plugin_files(manifest: &str) -> Result<PluginFiles, PluginError> {
    Ok(files(&object(manifest)?))
}

fn files(plugin: &Json) -> PluginFiles {
    let named = |key: &str| -> Vec<String> { plugin.get(key).map(paths).unwrap_or_default() };
    PluginFiles { hooks: named("hooks"), texts: ["skills", "commands", "agents"].map(named).concat() }
}

/// Reads a path, a list of paths, or `{NAME: {"source": PATH}}`.
fn paths(named: &Json) -> Vec<String> {
    let sources = named.as_object().into_iter().flatten().filter_map(|(_, one)| one.get("source"));
    list(named).iter().chain(sources).filter_map(Json::as_str).map(str::to_owned).collect()
}

fn list(json: &Json) -> &[Json] {
    json.as_array().map_or(std::slice::from_ref(json), Vec::as_slice)
}

fn object(text: &str) -> Result<Json, PluginError> {
    let json: Json = serde_json::from_str(text.trim_start_matches('\u{feff}'))
        .map_err(|error| PluginError::Invalid(error.to_string()))?;
    if json.is_object() { Ok(json) } else { Err(PluginError::NoObject) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_installed_is_found() {
        let one = |name: &str, root: &str| InstalledPlugin { name: name.to_owned(), root: root.to_owned() };
        // The format of 2.1.330.
        let text = r#"{"version":2,"plugins":{"guard@local":[{"scope":"user","installPath":"/h/.claude/plugins/cache/local/guard/1.0.0","version":"1.0.0"},{"scope":"project","installPath":"/x"}]}}"#;
        let root = "/h/.claude/plugins/cache/local/guard/1.0.0";
        assert_eq!(installed_plugins(text), Ok(vec![one("guard@local", root), one("guard@local", "/x")]));
        let former = installed_plugins(r#"{"plugins":{"a@b":{"installPath":"/y"}}}"#);
        assert_eq!(former, Ok(vec![one("a@b", "/y")]));
        let known = r#"{"local":{"source":{"source":"directory","path":"/m"},"installLocation":"/m"}}"#;
        assert_eq!(marketplaces(known), Ok(vec![("local".to_owned(), "/m".to_owned())]));
        assert_eq!(installed_plugins("{}"), Ok(Vec::new()));
        assert_eq!(marketplaces("{}"), Ok(Vec::new()));
    }

    #[test]
    fn a_marketplace_says_where_its_plugins_lie_and_what_they_bring() {
        let check = |text: &str, expected: &[(&str, &[&str], Option<&str>)]| {
            let offered = offered_plugins(text).unwrap();
            let found: Vec<_> = offered
                .iter()
                .map(|one| {
                    let roots: Vec<&str> = one.roots.iter().map(String::as_str).collect();
                    (one.name.as_str(), roots, one.hooks.as_deref())
                })
                .collect();
            let expected: Vec<_> =
                expected.iter().map(|(name, roots, hooks)| (*name, roots.to_vec(), *hooks)).collect();
            assert_eq!(found, expected, "{text}");
        };
        check(
            r#"{"name":"local","plugins":[{"name":"guard","source":"./plugs/guard"},{"name":"far","source":{"source":"github"}}]}"#,
            &[("guard", &["./plugs/guard"], None), ("far", &[], None)],
        );
        check(
            r#"{"metadata":{"pluginRoot":"./plugs"},"plugins":[{"name":"a","source":"a","hooks":{"Stop":[]}}]}"#,
            &[("a", &["a", "./plugs/a"], Some(r#"{"hooks":{"Stop":[]}}"#))],
        );
        check("{}", &[]);
    }

    #[test]
    fn a_manifest_names_files() {
        let check = |manifest: &str, hooks: &[&str], texts: &[&str]| {
            let owned = |all: &[&str]| -> Vec<String> { all.iter().map(|text| (*text).to_owned()).collect() };
            let expected = PluginFiles { hooks: owned(hooks), texts: owned(texts) };
            assert_eq!(plugin_files(manifest), Ok(expected), "{manifest}");
        };
        check("{}", &[], &[]);
        check(r#"{"hooks":"./h.json"}"#, &["./h.json"], &[]);
        check(r#"{"hooks":["a.json",{"hooks":{}},"b.json"]}"#, &["a.json", "b.json"], &[]);
        check(r#"{"hooks":{"Stop":[]}}"#, &[], &[]);
        check(
            r#"{"skills":["./s"],"commands":{"x":{"source":"./c.md"},"y":{"content":"z"}},"agents":"./a"}"#,
            &[],
            &["./s", "./c.md", "./a"],
        );
    }

    #[test]
    fn a_list_that_cannot_be_understood_is_no_empty_list() {
        for text in ["", "{", "[]", "1", r#"{"plugins":[1]}"#, r#"{"plugins":{"a":[1]}}"#] {
            assert!(installed_plugins(text).is_err(), "{text}");
        }
        for text in ["", "{", "[]", "1", r#"{"x":1}"#, r#"{"x":{"installLocation":1}}"#] {
            assert!(marketplaces(text).is_err(), "{text}");
        }
        for text in ["", "{", "[]", r#"{"plugins":{}}"#, r#"{"plugins":[{"source":"x"}]}"#] {
            assert!(offered_plugins(text).is_err(), "{text}");
        }
        for text in ["", "{", "[]", "// c\n{}"] {
            assert!(plugin_files(text).is_err(), "{text}");
        }
    }
}
