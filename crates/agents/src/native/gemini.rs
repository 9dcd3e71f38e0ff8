//! Gemini CLI's (0.61.0) `settings.json` and a policy. This module must not know where the files are.
//!
//! Measured with castellan's hook removed: the policy holds if `policyPaths` or `--policy` names it. Every part of a
//! compound command needs an allow, and a redirection is asked about. Without a person an ask is a deny, and the shell is
//! offered to the model only if a rule allows a command. File tools refuse paths outside of the workspace by themselves.
//! A regular expression with more than 2048 letters, or with a repeated group that repeats something, is ignored.

use serde_json::json;
use toml_edit::{Array, Value};

use super::{NativeSecret, NativeValues, StoppedCommand, claude, of_this_system};
use crate::agent::AgentId;

pub(super) const PATHS: &[&str] = &[".gemini/settings.json", ".gemini/castellan.toml"];

const SHELL: &str = "run_shell_command";
const READERS: &[&str] = &["read_file", "read_many_files", "grep_search", "glob", "list_directory"];
const WRITERS: &[&str] = &["write_file", "replace"];

/// Arguments of file tools that name files.
const NAMES_FILES: &str = "\"(file_path|dir_path|include_pattern|pattern|include)\":";

/// Priorities within the user's policies: a deny, then a question, then an allow.
const DENY: i64 = 990;
const ASK: i64 = 980;
const ALLOW: i64 = 100;

/// Letters of the alternatives in one expression; with its other parts it stays below the client's limit.
const ALTERNATIVES_LETTERS_MAX: usize = 1500;

pub(super) fn texts(agent: AgentId, values: &NativeValues, directory: &str) -> Vec<String> {
    let policy: Vec<String> = PATHS.iter().skip(1).map(|path| format!("{directory}/{path}")).collect();
    let settings = json!({
        "hooks": claude::hooks(agent, values),
        "policyPaths": policy,
        "security": { "disableYoloMode": true },
    });
    vec![claude::text(&settings), rules(values)]
}

pub(super) fn arguments(directory: &str) -> Vec<String> {
    let policy = PATHS.iter().skip(1).map(|path| format!("{directory}/{path}"));
    ["--policy".to_owned()].into_iter().chain(policy).collect()
}

fn rules(values: &NativeValues) -> String {
    let mut rules = Vec::new();
    let stopped = |is_denied: bool| {
        let those = values.stopped.iter().filter(move |stopped| stopped.is_denied == is_denied);
        those.map(|StoppedCommand { words, .. }| words.join(" ")).collect::<Vec<_>>()
    };
    let secrets: Vec<&NativeSecret> = values.secrets.iter().filter(|secret| !secret.is_wide).collect();
    let secrets: Vec<&str> = of_this_system(secrets.iter().map(|secret| secret.pattern.as_str())).collect();
    rules.extend(prefixes(&stopped(true), "deny", DENY, "castellan denies this command"));
    let anywhere: Vec<&str> = secrets.iter().filter_map(|pattern| pattern.strip_prefix("**/")).collect();
    for part in alternatives(&anywhere) {
        let named = format!("{NAMES_FILES}\"(|[^\"]*/)({part})[/\"]");
        let why = "castellan denies reading a secret";
        rules.push(rule(
            &[READERS, WRITERS].concat(),
            Some(("argsPattern", named.into())),
            "deny",
            DENY,
            why,
        ));
        let text = format!(".*[ '\\\\\"=:<>(/nt]({part})[ /'\\\\\";|&)<>]");
        rules.push(rule(&[SHELL], Some(("commandRegex", text.into())), "deny", DENY, why));
    }
    for (begin, before) in
        [("~/", "(~|HOME|HOME[}]|/home/[^/]*|/root|/Users/[^/]*)/"), ("/", "[ '\\\\\"=:<>(]/")]
    {
        let those: Vec<&str> = secrets.iter().filter_map(|pattern| pattern.strip_prefix(begin)).collect();
        for part in alternatives(&those) {
            let text = format!(".*{before}({part})[ /'\\\\\";|&)<>]");
            let why = "castellan denies reading a secret";
            rules.push(rule(&[SHELL], Some(("commandRegex", text.into())), "deny", DENY, why));
        }
    }
    let kept: Vec<&str> = values.kept.iter().filter_map(|pattern| pattern.strip_prefix("**/")).collect();
    for part in alternatives(&kept) {
        let named = format!("{NAMES_FILES}\"(|[^\"]*/)({part})[/\"]");
        let why = "castellan denies changing settings of agents";
        rules.push(rule(WRITERS, Some(("argsPattern", named.into())), "deny", DENY, why));
    }
    rules.extend(prefixes(&stopped(false), "ask_user", ASK, "castellan asks about this command"));
    let allowed = |goes_on: bool| {
        let those = values.commands.iter().filter(move |command| command.goes_on == goes_on);
        those.map(|command| command.words.join(" ")).collect::<Vec<_>>()
    };
    rules.extend(prefixes(&allowed(true), "allow", ALLOW, ""));
    for line in allowed(false) {
        // The quote ends the argument.
        let text = format!("{}\"", escaped(&line));
        rules.push(rule(&[SHELL], Some(("commandRegex", text.into())), "allow", ALLOW, ""));
    }
    rules.join("\n")
}

/// Returns a rule about commands that begin with one of the texts; none without texts.
fn prefixes(texts: &[String], decision: &str, priority: i64, why: &str) -> Option<String> {
    let prefixes = Value::Array(texts.iter().collect::<Array>());
    (!texts.is_empty()).then(|| rule(&[SHELL], Some(("commandPrefix", prefixes)), decision, priority, why))
}

fn rule(tools: &[&str], limit: Option<(&str, Value)>, decision: &str, priority: i64, why: &str) -> String {
    let tools = match tools {
        [tool] => Value::from(*tool),
        several => Value::Array(several.iter().copied().collect::<Array>()),
    };
    let mut pairs = vec![("toolName", tools)];
    pairs.extend(limit);
    pairs.extend([("decision", decision.into()), ("priority", priority.into())]);
    if !why.is_empty() {
        pairs.push(("denyMessage", why.into()));
    }
    let lines = pairs.iter().map(|(key, value)| format!("{key} = {}\n", value.to_string().trim()));
    format!("[[rule]]\n{}", lines.collect::<String>())
}

/// Returns the alternatives of expressions for patterns without their beginning.
fn alternatives(patterns: &[&str]) -> Vec<String> {
    let mut parts: Vec<String> = Vec::new();
    for pattern in patterns {
        let one = escaped(pattern.strip_suffix("/**").unwrap_or(pattern)).replace("\\*", "[^/\"]*");
        match parts.last_mut() {
            Some(part) if part.len() + one.len() < ALTERNATIVES_LETTERS_MAX => {
                part.push('|');
                part.push_str(&one);
            }
            Some(_) | None => parts.push(one),
        }
    }
    parts
}

fn escaped(text: &str) -> String {
    let letter = |letter: char| {
        let is_plain = letter.is_ascii_alphanumeric() || " -_/@%=,:".contains(letter) || !letter.is_ascii();
        if is_plain { letter.to_string() } else { format!("\\{letter}") }
    };
    text.chars().map(letter).collect()
}

#[cfg(test)]
mod tests {
    use toml_edit::Document;

    use super::super::native_files;
    use super::super::tests::values;
    use super::*;
    use crate::agent::hook_events;
    use crate::limits::SETTINGS_BYTES_MAX;
    use crate::permissions::{PermissionFormat, PermissionVerdict};
    use crate::settings::inspect;

    #[test]
    fn the_texts_read_back_as_the_values() {
        let [settings, policy] = &native_files(AgentId::GEMINI, &values(), "/d")[..] else {
            panic!("two files")
        };
        let found = inspect(AgentId::GEMINI, &settings.text).unwrap();
        assert_eq!(found.ours.len(), hook_events(AgentId::GEMINI).len());
        let read: serde_json::Value = serde_json::from_str(&settings.text).unwrap();
        assert_eq!(read["policyPaths"], json!(["/d/.gemini/castellan.toml"]));
        assert_eq!(read["security"]["disableYoloMode"], json!(true));
        let read = PermissionFormat::Gemini.read(&policy.text);
        let counted = |verdict| read.rules.iter().filter(|rule| rule.verdict == verdict).count();
        assert_eq!(counted(PermissionVerdict::Allow), 2);
        assert_eq!(counted(PermissionVerdict::Ask), 1);
        assert!(policy.text.contains("\"gh repo delete\""));
        assert!(
            policy.text.contains(r"\\.\\/gen\\.sh --all") || policy.text.contains(r"\./gen\.sh --all"),
            "{}",
            policy.text
        );
    }

    #[test]
    fn every_expression_is_one_that_the_client_reads() {
        let many = (0..500).map(|n| NativeSecret {
            pattern: format!("**/a long name of a secret file {n}*.json"),
            is_wide: false,
            present: None,
        });
        let values = NativeValues { secrets: many.collect(), ..values() };
        let text = rules(&values);
        assert!(text.len() < SETTINGS_BYTES_MAX);
        let read = Document::parse(text.as_str()).unwrap();
        let rules = read["rule"].as_array_of_tables().unwrap();
        let expressions = rules.iter().filter_map(|rule| {
            rule.get("argsPattern").or_else(|| rule.get("commandRegex")).and_then(|text| text.as_str())
        });
        let mut count = 0;
        for text in expressions {
            count += 1;
            assert!(text.len() < 2000, "{}", text.len());
            for (at, _) in text.match_indices(')') {
                let after = text.get(at + 1..).and_then(|rest| rest.chars().next());
                assert!(!after.is_some_and(|letter| "*+?{".contains(letter)), "{text}");
            }
        }
        assert!(count > 20, "{count}");
    }
}
