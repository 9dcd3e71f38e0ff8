//! Codex's (0.169.0) `config.toml` with a permission profile and hooks, and its rules. This module must not know where
//! the files are.
//!
//! Measured with castellan's hook removed: the profile holds for every program, since the sandbox carries it out. A trusted
//! repository can add rights to a profile whose name it knows. A network that is open for some domains is open for all.
//! An exception to a pattern (`read` for a path that a pattern denies) has no effect. The rules hold for commands in and
//! outside of the sandbox; castellan writes none that allows, since such a command may leave the sandbox.

use toml_edit::{InlineTable, Key, Value};

use super::{NativeSecret, NativeValues, of_this_system};
use crate::managed::hook_tables;

pub(super) const PATHS: &[&str] = &[".codex/config.toml", ".codex/rules/castellan.rules"];

/// The name of the profile in a file.
pub(super) const PROFILE: &str = "castellan";

/// Directories below the workspace that are searched for secrets. Each command pays for the search.
const SEARCHED_LEVELS: i64 = 6;

pub(super) fn texts(values: &NativeValues) -> Vec<String> {
    vec![config(values), rules(values)]
}

/// Returns overrides of the configuration. Those win over a repository's files, trusted or not.
pub(super) fn arguments(values: &NativeValues, mark: &str) -> Vec<String> {
    let profile = format!("{PROFILE}-{mark}");
    let pairs = [
        ("features.hooks".to_owned(), Value::from(true)),
        ("approval_policy".to_owned(), Value::from(APPROVALS)),
        ("default_permissions".to_owned(), Value::from(profile.as_str())),
        (format!("permissions.{profile}"), Value::InlineTable(profile_table(values))),
    ];
    let given =
        |(key, value): (String, Value)| ["-c".to_owned(), format!("{key}={}", value.to_string().trim())];
    pairs.into_iter().flat_map(given).collect()
}

/// The model asks for what the sandbox denies. `codex exec` asks nobody: such a call is denied.
const APPROVALS: &str = "on-request";

fn config(values: &NativeValues) -> String {
    let mut text = format!("approval_policy = {APPROVALS:?}\ndefault_permissions = {PROFILE:?}\n");
    text.push_str(&profile_text(values));
    text.push('\n');
    text.push_str(&hook_tables(&values.hook, true));
    text
}

/// Returns the tables of the profile.
pub(super) fn profile_text(values: &NativeValues) -> String {
    section(&format!("permissions.{PROFILE}"), &profile_table(values))
}

/// Returns a table with the tables in it, each under its own header.
fn section(name: &str, table: &InlineTable) -> String {
    let key = |key: &str| Key::new(key).to_string();
    let (mut plain, mut inner) = (String::new(), String::new());
    for (name_of, value) in table.iter() {
        match value.as_inline_table() {
            Some(table) => inner.push_str(&section(&format!("{name}.{}", key(name_of)), table)),
            None => plain.push_str(&format!("{} = {}\n", key(name_of), value.to_string().trim())),
        }
    }
    let header = if plain.is_empty() { String::new() } else { format!("\n[{name}]\n") };
    header + &plain + &inner
}

fn profile_table(values: &NativeValues) -> InlineTable {
    let mut files = InlineTable::new();
    files.insert(":root", "read".into());
    // Compilers and interpreters need a temporary directory.
    files.insert(":tmpdir", "write".into());
    files.insert(":slash_tmp", "write".into());
    for directory in &values.directories {
        files.insert(directory, "write".into());
    }
    files.insert("glob_scan_max_depth", SEARCHED_LEVELS.into());
    // Each path costs every command some milliseconds, so only those that exist are hidden.
    let present =
        values.secrets.iter().filter(|secret| !secret.is_wide).filter_map(|one| one.present.as_deref());
    for path in present {
        files.insert(path, "deny".into());
    }
    for path in of_this_system(values.kept.iter().map(String::as_str)).filter_map(one_path) {
        files.insert(path, "read".into());
    }
    files.insert(":workspace_roots", Value::InlineTable(workspace(values)));
    let mut network = InlineTable::new();
    network.insert("enabled", false.into());
    let mut profile = InlineTable::new();
    profile.insert("filesystem", Value::InlineTable(files));
    profile.insert("network", Value::InlineTable(network));
    profile
}

fn workspace(values: &NativeValues) -> InlineTable {
    let mut workspace = InlineTable::new();
    workspace.insert(".", "write".into());
    let names: Vec<&str> = values.secrets.iter().flat_map(anywhere).collect();
    if !names.is_empty() {
        // One pattern: each needs a search of its own.
        workspace.insert(format!("**/{{{}}}", names.join(",")), "deny".into());
    }
    workspace
}

/// Returns the names of files and directories below the workspace that hold secrets.
fn anywhere(secret: &NativeSecret) -> impl Iterator<Item = &str> {
    let rest = secret.pattern.strip_prefix("**/").filter(|_| !secret.is_wide);
    let directory = rest.and_then(|rest| rest.strip_suffix("/**"));
    directory.into_iter().chain(rest)
}

/// Returns the path that a pattern names, if it names one.
fn one_path(pattern: &str) -> Option<&str> {
    let path = pattern.strip_suffix("/**").unwrap_or(pattern);
    (!path.contains('*')).then_some(path)
}

fn rules(values: &NativeValues) -> String {
    let line = |stopped: &super::StoppedCommand| {
        let words: Vec<String> = stopped.words.iter().map(|word| format!("{word:?}")).collect();
        let (decision, why) = if stopped.is_denied {
            ("forbidden", "castellan denies this command")
        } else {
            ("prompt", "castellan asks about this command")
        };
        format!("prefix_rule(pattern=[{}], decision={decision:?}, justification={why:?})\n", words.join(", "))
    };
    values.stopped.iter().map(line).collect()
}

#[cfg(test)]
mod tests {
    use toml_edit::Document;

    use super::super::tests::{values, words};
    use super::super::{native_arguments, native_files};
    use crate::agent::{AgentId, hook_events};
    use crate::permissions::{PermissionFormat, PermissionSubject, PermissionVerdict};

    #[test]
    fn the_texts_read_back_as_the_values() {
        let [config, rules] = &native_files(AgentId::CODEX, &values(), "/d")[..] else { panic!("two files") };
        let read = Document::parse(config.text.as_str()).unwrap();
        let files = &read["permissions"]["castellan"]["filesystem"];
        let of = |path: &str| files.get(path).and_then(|access| access.as_str());
        for (path, access) in [
            (":root", Some("read")),
            (":tmpdir", Some("write")),
            ("/home/u/repo", Some("write")),
            ("/home/u/.ssh", Some("deny")),
            ("/etc/ssl/private", Some("deny")),
            ("~/.config/castellan", Some("read")),
            ("/etc/codex", Some("read")),
            ("~/.aws/credentials", None),
            ("/C:/Windows/System32/config", None),
        ] {
            assert_eq!(of(path), access, "{path}");
        }
        let below = files[":workspace_roots"].as_table().unwrap();
        let below: Vec<_> = below.iter().map(|(path, access)| (path, access.as_str().unwrap())).collect();
        assert_eq!(below, [(".", "write"), ("**/{.ssh,.ssh/**,.env}", "deny")]);
        assert_eq!(read["permissions"]["castellan"]["network"]["enabled"].as_bool(), Some(false));
        let hooks = read["hooks"].as_table().unwrap();
        assert_eq!(hooks.iter().count(), hook_events(AgentId::CODEX).len());
        let read = PermissionFormat::Codex.read(&rules.text);
        let read: Vec<_> = read.rules.into_iter().map(|rule| (rule.verdict, rule.subject)).collect();
        let prefix =
            |line| PermissionSubject::Prefix(words(line).into_iter().map(|word| vec![word]).collect());
        assert_eq!(
            read,
            [
                (PermissionVerdict::Deny, prefix("gh repo delete")),
                (PermissionVerdict::Ask, prefix("terraform destroy"))
            ]
        );
    }

    #[test]
    fn the_arguments_carry_the_profile_under_a_name_that_no_repository_knows() {
        let arguments = native_arguments(AgentId::CODEX, &values(), "/d", "7f");
        let pairs: Vec<_> = arguments.chunks(2).collect();
        assert!(pairs.iter().all(|pair| pair[0] == "-c"));
        let text: String = pairs.iter().map(|pair| format!("{}\n", pair[1])).collect();
        let read = Document::parse(text.as_str()).unwrap();
        assert_eq!(read["default_permissions"].as_str(), Some("castellan-7f"));
        assert_eq!(read["features"]["hooks"].as_bool(), Some(true));
        assert_eq!(read["permissions"]["castellan-7f"]["filesystem"]["/home/u/.ssh"].as_str(), Some("deny"));
    }
}
