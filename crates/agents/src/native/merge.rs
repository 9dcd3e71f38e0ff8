//! Merges castellan's settings into a text that a person has edited: it keeps the person's entries and only adds what
//! tightens. It adds no allow, no directory and no host, and never weakens a value.

use serde_json::{Map, Value as Json};
use toml_edit::{Document, DocumentMut, Item, Table};

use super::{NativeValues, claude, codex, native_files};
use crate::agent::AgentId;
use crate::limits::SETTINGS_BYTES_MAX;
use crate::managed::hook_tables;
use crate::settings::{SettingsProblem, register};
use crate::spec::NativeFamily;

/// A merged text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Merged {
    /// The whole text.
    pub text: String,
    /// Entries that the person's text keeps although castellan would write something stricter, in words.
    pub kept: Vec<String>,
}

/// The reason why a text stays unchanged.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NativeError {
    /// A text that the agent could not read either, or a value of the wrong type.
    #[error(transparent)]
    Settings(#[from] SettingsProblem),
    /// JSON with comments or other additions.
    #[error("line {line}, column {column}: not plain JSON ({message}): a merge would lose comments")]
    NotPlainJson {
        /// Line, from 1.
        line: usize,
        /// Column in bytes, from 1.
        column: usize,
        /// The error.
        message: String,
    },
}

/// Merges the settings of `values` into `text`, a present file at `path` (one of [`super::native_paths`]) below
/// `directory`. An empty text becomes castellan's own.
pub fn merge_native(
    agent: AgentId,
    path: &str,
    text: &str,
    values: &NativeValues,
    directory: &str,
) -> Result<Merged, NativeError> {
    if text.len() > SETTINGS_BYTES_MAX {
        return Err(SettingsProblem::TooLarge.into());
    }
    let files = native_files(agent, values, directory);
    let ours = files.into_iter().find(|file| file.path == path).map(|file| file.text).unwrap_or_default();
    if text.trim().is_empty() || text == ours {
        return Ok(Merged { text: ours, kept: Vec::new() });
    }
    match (agent.spec().families.native, path.rsplit('.').next()) {
        (Some(NativeFamily::Permissions | NativeFamily::Policy), Some("json")) => {
            merge_json(agent, text, &ours, values)
        }
        (Some(NativeFamily::Profile), Some("toml")) => merge_config(text, values),
        (Some(NativeFamily::Policy), Some("toml")) => merge_policy(text, &ours),
        (Some(_), _) => Ok(Merged { text: with_lines(text, &ours), kept: Vec::new() }),
        (None, _) => Ok(Merged { text: text.to_owned(), kept: Vec::new() }),
    }
}

/// Permission modes of Claude Code, from the strictest. A mode that is not listed stays.
const MODES: &[&str] = &["plan", "dontAsk", "default", "acceptEdits", "auto", "bypassPermissions"];

/// Truth values that tighten: the way to the key, and the value. A key that castellan does not render stays.
const SWITCHES: &[(&[&str], bool)] = &[
    (&["disableAllHooks"], false),
    (&["sandbox", "enabled"], true),
    (&["sandbox", "failIfUnavailable"], true),
    (&["sandbox", "allowUnsandboxedCommands"], false),
    (&["sandbox", "autoAllowBashIfSandboxed"], false),
    (&["security", "disableYoloMode"], true),
];

fn merge_json(agent: AgentId, text: &str, ours: &str, values: &NativeValues) -> Result<Merged, NativeError> {
    let read = |text: &str| serde_json::from_str::<Json>(text);
    let mut theirs = read(text).map_err(|error| NativeError::NotPlainJson {
        line: error.line(),
        column: error.column(),
        message: error.to_string(),
    })?;
    let ours = read(ours).unwrap_or_default();
    let root = theirs.as_object_mut().ok_or_else(|| wrong_shape("", "an object"))?;
    for list in [&["permissions", "deny"][..], &["permissions", "ask"], &["policyPaths"]] {
        add_to_list(root, &ours, list)?;
    }
    for (way, value) in SWITCHES {
        if let Some(Json::Bool(_)) = at(&ours, way) {
            put(root, way, (*value).into())?;
        }
    }
    let way = &["permissions", "disableBypassPermissionsMode"];
    if let Some(value) = at(&ours, way) {
        put(root, way, value.clone())?;
    }
    tighten_mode(root);
    let merged = claude::text(&theirs);
    // The registration adds hooks and keeps the rest of the text.
    let text = register(agent, &merged, &values.hook)?;
    let text = read(&text).map_or(text, |settings| claude::text(&settings));
    Ok(Merged { text, kept: Vec::new() })
}

/// A mode of the person's that is looser than asking becomes `default`.
fn tighten_mode(root: &mut Map<String, Json>) {
    let rank = |mode: &str| MODES.iter().position(|known| *known == mode);
    let Some(mode) = root.get_mut("permissions").and_then(|all| all.get_mut("defaultMode")) else { return };
    if mode.as_str().and_then(rank) > rank("default") {
        *mode = "default".into();
    }
}

fn at<'j>(root: &'j Json, way: &[&str]) -> Option<&'j Json> {
    way.iter().try_fold(root, |place, key| place.get(key))
}

/// Returns the object that holds the last key of a way, with the objects before it made.
fn holder<'j>(
    mut place: &'j mut Map<String, Json>,
    way: &[&str],
) -> Result<&'j mut Map<String, Json>, SettingsProblem> {
    for key in way.iter().take(way.len().saturating_sub(1)) {
        let next = place.entry((*key).to_owned()).or_insert_with(|| Json::Object(Map::new()));
        place = next.as_object_mut().ok_or_else(|| wrong_shape(key, "an object"))?;
    }
    Ok(place)
}

fn put(root: &mut Map<String, Json>, way: &[&str], value: Json) -> Result<(), SettingsProblem> {
    if let Some(key) = way.last() {
        holder(root, way)?.insert((*key).to_owned(), value);
    }
    Ok(())
}

/// Adds castellan's entries of a list that the person's lacks, behind them.
fn add_to_list(root: &mut Map<String, Json>, ours: &Json, way: &[&str]) -> Result<(), SettingsProblem> {
    let (Some(added), Some(key)) = (at(ours, way).and_then(Json::as_array), way.last()) else {
        return Ok(());
    };
    let list = holder(root, way)?.entry((*key).to_owned()).or_insert_with(|| Json::Array(Vec::new()));
    let list = list.as_array_mut().ok_or_else(|| wrong_shape(&way.join("."), "a list"))?;
    for entry in added {
        if !list.contains(entry) {
            list.push(entry.clone());
        }
    }
    Ok(())
}

/// Merges castellan's profile and hooks into a `config.toml`.
fn merge_config(text: &str, values: &NativeValues) -> Result<Merged, NativeError> {
    let mut document = document(text)?;
    let mut kept = Vec::new();
    let own_profile = document.get("default_permissions").and_then(Item::as_str).map(str::to_owned);
    match (own_profile.as_deref(), document.get("sandbox_mode").and_then(Item::as_str)) {
        (Some(codex::PROFILE), _) => kept.extend(profile_kept(&document, values)),
        (Some(other), _) => kept.push(format!("the permission profile `{other}`")),
        (None, Some("read-only")) => kept.push("`sandbox_mode = \"read-only\"`".to_owned()),
        (None, _) if document.contains_key("permissions") => kept.push("the permission profiles".to_owned()),
        (None, _) if keeps_temporary_read_only(&document) => {
            kept.push("`sandbox_workspace_write`".to_owned());
        }
        (None, _) => {
            document.remove("sandbox_mode");
            document.remove("sandbox_workspace_write");
            document.insert("default_permissions", toml_edit::value(codex::PROFILE));
            let strict = NativeValues { directories: Vec::new(), ..values.clone() };
            let added = self::document(&codex::profile_text(&strict))?;
            document.extend(added.iter().map(|(key, item)| (key.to_owned(), item.clone())));
        }
    }
    let features = document.entry("features").or_insert(Item::Table(Table::new()));
    let features = features.as_table_like_mut().ok_or_else(|| wrong_shape("features", "a table"))?;
    features.insert("hooks", toml_edit::value(true));
    let text = document.to_string();
    let hooks = hook_tables(&values.hook, false);
    if text.contains(&hooks) {
        return Ok(Merged { text, kept });
    }
    let text = format!("{}\n\n{hooks}", text.trim_end());
    // A table that the person has written in another way cannot be continued.
    self::document(&text).map_err(|_| wrong_shape("hooks", "written as `[[hooks.PreToolUse]]`"))?;
    Ok(Merged { text, kept })
}

/// Reports whether commands must not write temporary directories, which castellan's profile lets them write.
fn keeps_temporary_read_only(document: &DocumentMut) -> bool {
    let sandbox = document.get("sandbox_workspace_write");
    let is_set = |key: &&str| sandbox.and_then(|sandbox| sandbox.get(*key)?.as_bool()) == Some(true);
    let is_loose = document.get("sandbox_mode").and_then(Item::as_str) == Some("danger-full-access");
    !is_loose && ["exclude_slash_tmp", "exclude_tmpdir_env_var"].iter().any(is_set)
}

/// Says that a person has changed castellan's profile, which then stays.
fn profile_kept(document: &DocumentMut, values: &NativeValues) -> Option<String> {
    let ours = self::document(&codex::profile_text(values)).ok()?;
    let of = |document: &DocumentMut| {
        let profile = document.get("permissions").and_then(|all| all.get(codex::PROFILE))?;
        Some(profile.to_string().split_whitespace().collect::<String>())
    };
    (of(document) != of(&ours)).then(|| format!("the permission profile `{}` as it is", codex::PROFILE))
}

/// Adds the rules of castellan's policy that deny or ask, behind the person's.
fn merge_policy(text: &str, ours: &str) -> Result<Merged, NativeError> {
    document(text)?;
    let mut merged = text.trim_end().to_owned();
    for rule in ours.split("[[rule]]\n").filter(|rule| !rule.is_empty()) {
        let is_allow = rule.lines().any(|line| line == "decision = \"allow\"");
        if !is_allow && !merged.contains(rule.trim_end()) {
            merged.push_str(&format!("\n\n[[rule]]\n{}", rule.trim_end()));
        }
    }
    merged.push('\n');
    document(&merged).map_err(|_| wrong_shape("rule", "written as `[[rule]]`"))?;
    Ok(Merged { text: merged, kept: Vec::new() })
}

/// Adds the lines that a text lacks. Every line of castellan's rules tightens.
fn with_lines(text: &str, ours: &str) -> String {
    let mut merged = text.to_owned();
    for line in ours.lines().filter(|line| !text.lines().any(|present| present == *line)) {
        if !merged.ends_with('\n') {
            merged.push('\n');
        }
        merged.push_str(line);
        merged.push('\n');
    }
    merged
}

fn document(text: &str) -> Result<DocumentMut, SettingsProblem> {
    let error = match Document::parse(text) {
        Ok(document) => return Ok(document.into_mut()),
        Err(error) => error,
    };
    let before = error.span().and_then(|span| text.get(..span.start)).unwrap_or_default();
    Err(SettingsProblem::NotToml {
        line: before.matches('\n').count() + 1,
        column: before.rsplit('\n').next().unwrap_or_default().chars().count() + 1,
        message: error.message().replace('\n', ", "),
    })
}

fn wrong_shape(path: &str, expected: &str) -> SettingsProblem {
    SettingsProblem::WrongShape { path: path.to_owned(), expected: expected.to_owned() }
}
