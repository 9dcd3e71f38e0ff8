//! The kit's mode and default action, and castellan's keys for them. Words that castellan does not know stop the import.

use std::path::{Path, PathBuf};

use anyhow::{Context, bail, ensure};
use castellan_daemon::KeyEdit;
use castellan_event::Mode;
use castellan_rules::{Source, Yaml, YamlValue};

use crate::limits::{KIT_CONFIG_BYTES_MAX, KIT_RULE_FILES_MAX};
use crate::text_file::read_found;

/// Words of the kit's mode.
const MODES: &[(&str, Mode)] = &[
    ("enforcement", Mode::Enforce),
    ("enforce", Mode::Enforce),
    ("guardrails", Mode::Enforce),
    ("monitor", Mode::Monitor),
    ("monitoring", Mode::Monitor),
];

/// Words of the kit's action for calls that no rule matches, and castellan's value of `default`.
const ACTIONS: &[(&str, &str)] = &[("allow", "allow"), ("defer", "defer")];

/// Keys of the plugin's configuration that hold the mode and the default action.
const MODE_KEYS: &[&str] = &["mode"];
const ACTION_KEYS: &[&str] = &["default_action", "default_verdict", "default_decision"];

/// Keys of Falco's configuration that change which rules act. castellan takes none over.
const RULE_KEYS: &[&str] = &["rules", "rule_matching", "priority"];

/// The settings of the kit. The defaults are the kit's own: it enforces, and allows calls that no rule matches.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct KitSettings {
    pub(super) mode: Mode,
    /// castellan's value of `default`.
    pub(super) default: &'static str,
    /// Keys that castellan does not take over, with their files.
    pub(super) left: Vec<String>,
}

impl KitSettings {
    /// Reads the files `config/*.yaml` of the kit. A folder that is missing has the defaults.
    pub(super) fn read(dir: &Path) -> anyhow::Result<KitSettings> {
        let mut found = KitSettings { mode: Mode::Enforce, default: "allow", left: Vec::new() };
        let (mut mode, mut default) = (None, None);
        for file in files(&dir.join("config"))? {
            let name = file.display().to_string();
            let source = Source { text: read_found(&file, KIT_CONFIG_BYTES_MAX)?, name: name.clone() };
            let Ok(root) = Yaml::read(&source) else {
                bail!("`{name}` is not one YAML document, so the kit's mode is not known: mend the file");
            };
            for key in RULE_KEYS.iter().filter(|key| root.get(key).is_some()) {
                found.left.push(format!("`{key}` of `{name}`"));
            }
            for (key, value) in plugin_settings(&root) {
                let shown = || format!("`{name}`: `{key}`");
                let word = text(value).map(str::to_lowercase);
                if MODE_KEYS.contains(&key) {
                    let known = word.and_then(|word| MODES.iter().find(|(known, _)| *known == word));
                    let (_, value) =
                        known.with_context(|| unknown(&shown(), MODES.iter().map(|(word, _)| *word)))?;
                    set(&mut mode, *value, &shown())?;
                } else if ACTION_KEYS.contains(&key) {
                    let known = word.and_then(|word| ACTIONS.iter().find(|(known, _)| *known == word));
                    let (_, value) =
                        known.with_context(|| unknown(&shown(), ACTIONS.iter().map(|(word, _)| *word)))?;
                    set(&mut default, *value, &shown())?;
                } else {
                    found.left.push(format!("`{key}` of `{name}`"));
                }
            }
        }
        found.mode = mode.unwrap_or(found.mode);
        found.default = default.unwrap_or(found.default);
        Ok(found)
    }

    /// Returns castellan's configuration with these settings.
    pub(super) fn put_into(&self, config: &str) -> anyhow::Result<String> {
        let keys = [("profile", "kit"), ("mode", self.mode.as_str()), ("default", self.default)];
        let mut config = config.to_owned();
        for (key, word) in keys {
            config = KeyEdit::word(word).applied_to(&config, key).context("`config.toml`")?;
        }
        Ok(config)
    }
}

fn set<T: PartialEq + Copy>(place: &mut Option<T>, value: T, shown: &str) -> anyhow::Result<()> {
    ensure!(
        place.is_none_or(|before| before == value),
        "{shown} differs from that of another file of the kit"
    );
    *place = Some(value);
    Ok(())
}

fn unknown(shown: &str, words: impl Iterator<Item = &'static str>) -> String {
    let words: Vec<&str> = words.collect();
    format!("{shown} is none of `{}`, which castellan can take over: change it first", words.join("`, `"))
}

/// Returns the keys of `plugins[].init_config`, of every plugin.
fn plugin_settings(root: &Yaml) -> Vec<(&str, &Yaml)> {
    let Some(YamlValue::List(plugins)) = root.get("plugins").map(|plugins| &plugins.value) else {
        return Vec::new();
    };
    let configs = plugins.iter().filter_map(|plugin| plugin.get("init_config"));
    let maps = configs.filter_map(|config| match &config.value {
        YamlValue::Map(entries) => Some(entries.iter().map(|(key, value)| (key.as_str(), value)).collect()),
        YamlValue::Text(_) | YamlValue::Plain(_) | YamlValue::List(_) => Some(vec![("init_config", config)]),
        YamlValue::Null => None,
    });
    maps.flat_map(|entries: Vec<_>| entries).collect()
}

fn text(value: &Yaml) -> Option<&str> {
    match &value.value {
        YamlValue::Plain(text) | YamlValue::Text(text) => Some(text),
        YamlValue::Null | YamlValue::List(_) | YamlValue::Map(_) => None,
    }
}

fn files(folder: &Path) -> anyhow::Result<Vec<PathBuf>> {
    if std::fs::symlink_metadata(folder).is_err() {
        return Ok(Vec::new());
    }
    let entries = std::fs::read_dir(folder).with_context(|| format!("`{}`", folder.display()))?;
    let mut files = Vec::new();
    for entry in entries.take(KIT_RULE_FILES_MAX) {
        files.push(entry?.path());
    }
    files.retain(|file| file.extension().is_some_and(|ending| ending == "yaml" || ending == "yml"));
    files.sort();
    Ok(files)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(files: &[(&str, &str)]) -> anyhow::Result<KitSettings> {
        let dir = tempfile::tempdir().unwrap();
        std::fs::create_dir(dir.path().join("config")).unwrap();
        for (name, text) in files {
            std::fs::write(dir.path().join("config").join(name), text).unwrap();
        }
        KitSettings::read(dir.path())
    }

    fn plugin(settings: &str) -> String {
        format!("plugins:\n  - name: coding_agent\n    init_config: {settings}\n")
    }

    #[test]
    fn mode_and_default_action_are_mapped() {
        for (settings, mode, default, left) in [
            ("{}", Mode::Enforce, "allow", 0),
            ("{mode: enforcement}", Mode::Enforce, "allow", 0),
            ("{mode: Guardrails}", Mode::Enforce, "allow", 0),
            ("{mode: \"monitor\", default_action: allow}", Mode::Monitor, "allow", 0),
            ("{mode: enforcement, default_action: defer}", Mode::Enforce, "defer", 0),
            ("{mode: enforcement, deny_tag: other}", Mode::Enforce, "allow", 1),
        ] {
            let found = read(&[("a.yaml", &plugin(settings))]).unwrap();
            assert_eq!((found.mode, found.default, found.left.len()), (mode, default, left), "{settings}");
        }
        let none = KitSettings::read(Path::new("/nonexistent")).unwrap();
        assert_eq!((none.mode, none.default), (Mode::Enforce, "allow"));
    }

    #[test]
    fn what_is_not_understood_stops() {
        for (files, part) in [
            (vec![("a.yaml", plugin("{mode: off}"))], "`mode` is none of"),
            (vec![("a.yaml", plugin("{mode: [monitor]}"))], "`mode` is none of"),
            (vec![("a.yaml", plugin("{default_action: deny}"))], "`default_action` is none of"),
            (vec![("a.yaml", "a: [".to_owned())], "not one YAML document"),
            (vec![("a.yaml", plugin("{mode: monitor}")), ("b.yml", plugin("{mode: enforce}"))], "differs"),
        ] {
            let files: Vec<(&str, &str)> = files.iter().map(|(name, text)| (*name, text.as_str())).collect();
            let error = format!("{:#}", read(&files).unwrap_err());
            assert!(error.contains(part), "{error}");
        }
    }

    #[test]
    fn the_configuration_gets_the_keys() {
        let found = KitSettings { mode: Mode::Monitor, default: "defer", left: Vec::new() };
        let text = found.put_into("version = 1\nprofile = \"strict\" # mine\n").unwrap();
        for part in ["profile = \"kit\"", "mode = \"monitor\"", "default = \"defer\"", "# mine"] {
            assert!(text.contains(part), "{text}");
        }
    }
}
