//! The files in an observer's own home: settings that name model and provider, and castellan's hooks. Nothing else of
//! the user's configuration is taken over: no MCP server, hook, profile or program.

use toml_edit::{DocumentMut, Item, Table};

use crate::agent::AgentId;
use crate::family::HookCommand;
use crate::settings::{SettingsProblem, register};

/// The reason why the user's configuration cannot be taken over.
#[derive(Debug, thiserror::Error)]
pub enum ConfigProblem {
    /// The configuration is no TOML.
    #[error("not valid TOML: {0}")]
    NotToml(#[from] toml_edit::TomlError),
    /// castellan's hooks cannot be written.
    #[error(transparent)]
    Hooks(#[from] SettingsProblem),
}

/// The files of an observer's own home.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ObserverFiles {
    /// The name of the configuration in both homes, and its text for the observer.
    pub config: (&'static str, String),
    /// The name of the file of hooks, and its text.
    pub hooks: (&'static str, String),
    /// The name of the file with the user's login, in both homes.
    pub login: &'static str,
    /// Variables that hold the keys of the taken providers.
    pub key_variables: Vec<String>,
}

/// Returns the name of the user's configuration that an observer takes keys from.
pub fn observer_config(agent: AgentId) -> Option<&'static str> {
    agent.spec().run.observer.as_ref()?.config.as_ref().map(|config| config.file)
}

/// Returns the files of an observer's home, from the text of the user's configuration; `None` for an agent that needs
/// none.
pub fn observer_files(
    agent: AgentId,
    user: &str,
    hook: &HookCommand,
) -> Result<Option<ObserverFiles>, ConfigProblem> {
    let config = agent.spec().run.observer.as_ref().and_then(|observer| observer.config.as_ref());
    let Some(config) = config else { return Ok(None) };
    let user: DocumentMut = user.parse()?;
    let mut taken = DocumentMut::new();
    for key in config.keys {
        if let Some(value) = user.get(key) {
            taken.insert(key, value.clone());
        }
    }
    let mut key_variables = Vec::new();
    let mut providers = Table::new();
    for (name, provider) in
        user.get("model_providers").and_then(Item::as_table_like).into_iter().flat_map(|all| all.iter())
    {
        let mut kept = Table::new();
        for key in config.provider_keys {
            if let Some(value) = provider.get(key).and_then(Item::as_value) {
                kept.insert(key, Item::Value(value.clone()));
            }
        }
        key_variables.extend(kept.get("env_key").and_then(Item::as_str).map(str::to_owned));
        let headers = kept.get("env_http_headers").and_then(Item::as_table_like);
        key_variables.extend(
            headers
                .into_iter()
                .flat_map(|all| all.iter())
                .filter_map(|(_, value)| value.as_str().map(str::to_owned)),
        );
        providers.insert(name, Item::Table(kept));
    }
    if !providers.is_empty() {
        taken.insert("model_providers", Item::Table(providers));
    }
    Ok(Some(ObserverFiles {
        config: (config.file, taken.to_string()),
        hooks: (config.hooks, register(agent, "", hook)?),
        login: config.login,
        key_variables,
    }))
}
