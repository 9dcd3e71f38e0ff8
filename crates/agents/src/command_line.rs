//! The options on an agent's command line that keep hooks on, bring hooks, or switch them off. The tables are in
//! `agents/*.toml`. This module must not know the contents of the named files.
//!
//! A word may be an option or the value of an unknown option. A dangerous word is then read as an option; a word that
//! keeps hooks on is not.

use std::collections::BTreeSet;

use serde_json::Value as Json;
use toml_edit::{DocumentMut, Item};

use crate::agent::{AgentId, switch_family};
use crate::spec::{Meaning, Options, SwitchFamily};
use crate::switches::HOOK_FEATURES;

/// A part of a command line that may bring hooks, or switch them off.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum GivenHooks {
    /// A switch that prevents the agent from running its user's hooks.
    Off(String),
    /// Settings as text, in the form of [`crate::GIVEN_SETTINGS`] or [`crate::GIVEN_CONFIG`].
    Settings(String),
    /// The path of a file of settings.
    SettingsFile(String),
    /// The path of a plugin, or of a folder of plugins.
    Plugin(String),
    /// The path of a folder whose skills the agent reads.
    Folder(String),
    /// The name of a profile of the configuration.
    Profile(String),
    /// The agent also runs untrusted hooks.
    TrustsAll,
    /// An option that castellan cannot analyse, with its value.
    Unread(String),
}

/// An option of a command line.
#[derive(Debug, PartialEq, Eq)]
struct Given {
    name: String,
    value: String,
    /// The word is certainly an option: no option before it can have taken it as a value.
    is_certain: bool,
}

/// Reports whether an agent with these arguments runs its hooks regardless of the user's and a repository's settings.
/// `is_rendered` reports whether a file of settings is one that castellan rendered for this agent: it switches hooks on.
pub fn keeps_hooks_on<A: AsRef<[u8]>>(
    agent: AgentId,
    arguments: &[A],
    is_rendered: impl Fn(&str) -> bool,
) -> bool {
    let options = options(agent, arguments);
    let [name, value] = hooks_on(agent) else { return false };
    let table = &agent.spec().options;
    let is_settings = meaning(table, name) == Some(Meaning::Settings);
    let is_on = |given: &Given| {
        given.name == *name && (given.value == *value || is_settings && is_rendered(&given.value))
    };
    let adds_up = table.adds_up;
    // The last of several equal options applies.
    let is_same = |given: &&Given| given.name == *name && (!adds_up || is_on(given));
    let last = options.iter().rfind(is_same);
    last.is_some_and(|given| is_on(given) && given.is_certain)
        && !given_hooks(agent, arguments).iter().any(|given| is_off(agent, given))
}

fn is_off(agent: AgentId, given: &GivenHooks) -> bool {
    match given {
        GivenHooks::Off(_) => true,
        GivenHooks::Settings(text) => crate::switches_off(agent, text).is_some(),
        // An unreadable configuration key may be the switch.
        GivenHooks::Unread(_) => switch_family(agent) == SwitchFamily::Feature,
        GivenHooks::SettingsFile(_)
        | GivenHooks::Plugin(_)
        | GivenHooks::Folder(_)
        | GivenHooks::Profile(_)
        | GivenHooks::TrustsAll => false,
    }
}

/// The option that keeps hooks on, and its value.
pub(crate) fn hooks_on(agent: AgentId) -> &'static [&'static str] {
    agent.spec().hooks_on
}

/// Reports whether any arguments keep an agent's hooks on.
pub fn can_keep_hooks_on(agent: AgentId) -> bool {
    !hooks_on(agent).is_empty()
}

/// Returns the parts of an agent's command line that bring hooks or switch them off.
pub fn given_hooks<A: AsRef<[u8]>>(agent: AgentId, arguments: &[A]) -> Vec<GivenHooks> {
    let table = &agent.spec().options;
    let words = arguments.iter().skip(1).map(AsRef::as_ref).take_while(|word| *word != b"--");
    let before: BTreeSet<&[u8]> = words.collect();
    let anywhere: Vec<&str> =
        table.anywhere.iter().copied().filter(|switch| before.contains(switch.as_bytes())).collect();
    let mut found: Vec<GivenHooks> =
        anywhere.iter().map(|switch| GivenHooks::Off((*switch).to_owned())).collect();
    for Given { name, value, .. } in options(agent, arguments) {
        if anywhere.contains(&name.as_str()) {
            continue;
        }
        let shown = || format!("{name} {value}").trim_end().to_owned();
        found.extend(match meaning(table, &name) {
            None => None,
            Some(Meaning::Off) => Some(GivenHooks::Off(name)),
            Some(Meaning::SettingKinds) => {
                let reads_users = value.split(',').any(|kind| kind.trim() == "user");
                (!reads_users).then(|| GivenHooks::Off(shown()))
            }
            Some(Meaning::Settings) => Some(settings(value)),
            Some(Meaning::Plugin) if !is_archive(&value) => Some(GivenHooks::Plugin(value)),
            Some(Meaning::Policy) => is_about_hooks(&value).then(|| GivenHooks::Off(shown())),
            Some(Meaning::Plugin | Meaning::FarPlugin | Meaning::Elsewhere) => {
                Some(GivenHooks::Unread(shown()))
            }
            Some(Meaning::Folder) => Some(GivenHooks::Folder(value)),
            Some(Meaning::Subagents) => brings_hooks(&value).then(|| GivenHooks::Unread(shown())),
            Some(Meaning::Key) => key(&name, &value),
            Some(Meaning::FeatureOff) => {
                HOOK_FEATURES.contains(&value.as_str()).then(|| GivenHooks::Off(shown()))
            }
            Some(Meaning::Profile) => Some(GivenHooks::Profile(value)),
            Some(Meaning::TrustsAll) => Some(GivenHooks::TrustsAll),
        });
    }
    found
}

/// Returns the meaning of an option for hooks.
pub(crate) fn meaning(table: &Options, name: &str) -> Option<Meaning> {
    table.meanings.iter().find(|(known, _)| *known == name).map(|(_, meaning)| *meaning)
}

/// Returns the options of a command line with their values, also if a word may be the value of an unknown option.
pub(crate) fn named_values<A: AsRef<[u8]>>(agent: AgentId, arguments: &[A]) -> Vec<(String, String)> {
    options(agent, arguments).into_iter().map(|given| (given.name, given.value)).collect()
}

/// Returns the environment variables that switch an agent's hooks off if set.
pub fn off_variables(agent: AgentId) -> &'static [&'static str] {
    agent.spec().off_variables
}

/// Separates text from a path in the same way as Claude Code.
fn settings(value: String) -> GivenHooks {
    let text = value.trim();
    let is_text = text.starts_with('{') && text.ends_with('}');
    if is_text { GivenHooks::Settings(value) } else { GivenHooks::SettingsFile(value) }
}

fn is_archive(path: &str) -> bool {
    std::path::Path::new(path).extension().is_some_and(|ending| ending.eq_ignore_ascii_case("zip"))
}

/// True for `allowManagedHooksOnly`, `disableAllHooks`, also if written with escapes.
fn is_about_hooks(policy: &str) -> bool {
    policy.contains("Hooks") || policy.contains('\\')
}

/// True for `{NAME: {"hooks": ..}}`. Also true for text that does not parse here, since the agent may parse it.
fn brings_hooks(text: &str) -> bool {
    match serde_json::from_str::<Json>(text) {
        Ok(all) => all.as_object().into_iter().flatten().any(|(_, one)| one.get("hooks").is_some()),
        Err(_) => !text.is_empty(),
    }
}

/// Reads `KEY=VALUE` of Codex if the key concerns hooks, as a line of its configuration.
fn key(option: &str, given: &str) -> Option<GivenHooks> {
    let (key, value) = given.split_once('=')?;
    let first = key.split('.').next().unwrap_or_default().trim().trim_matches(['"', '\'']);
    if first == "profile" {
        return Some(GivenHooks::Profile(value.trim().trim_matches(['"', '\'']).to_owned()));
    }
    if !["hooks", "features", "profiles"].contains(&first) {
        return None;
    }
    let line = format!("{key} = {value}\n");
    // `hooks.state` holds the trusted and disabled hooks. Only the user's configuration may set it.
    let is_known = |table: &Item| table.is_table_like() && (first != "hooks" || table.get("state").is_none());
    let is_read = line.parse::<DocumentMut>().is_ok_and(|line| line.get(first).is_some_and(is_known));
    Some(if is_read { GivenHooks::Settings(line) } else { GivenHooks::Unread(format!("{option} {given}")) })
}

/// Returns the options of a command line. The first word is the program, and words after `--` are not options.
fn options<A: AsRef<[u8]>>(agent: AgentId, arguments: &[A]) -> Vec<Given> {
    let table = &agent.spec().options;
    let words: Vec<_> = arguments.iter().map(|word| String::from_utf8_lossy(word.as_ref())).collect();
    let mut found = Vec::new();
    let mut is_certain = true;
    let mut at = 1;
    // True if the previous word is an option that may have taken this word.
    let mut may_be_value = false;
    while let Some(word) = words.get(at) {
        at += 1;
        let next = || words.get(at).map(|next| next.to_string()).unwrap_or_default();
        let is_option = word.len() > 1 && word.starts_with('-');
        is_certain &= !(may_be_value && is_option);
        may_be_value = false;
        if word == "--" && is_certain {
            break;
        }
        if !is_option || word == "--" {
            continue;
        }
        let (name, value) = split(table, word);
        let is_valued = table.valued.contains(&name);
        let takes_next = value.is_none() && is_valued;
        let given = value.map(str::to_owned).unwrap_or_else(next);
        found.push(Given { name: name.to_owned(), value: given, is_certain });
        let more = words.get(at.saturating_add(1)..).unwrap_or_default();
        if table.lists.contains(&name) {
            for value in more.iter().take_while(|word| !word.starts_with('-')) {
                let (name, value) = (name.to_owned(), value.to_string());
                found.push(Given { name, value, is_certain });
            }
        }
        if takes_next && is_certain {
            at += 1;
        } else {
            may_be_value = value.is_none() && !is_valued && !table.flags.contains(&name);
        }
    }
    found
}

/// Splits `--name=value`, and with `joined_values` also `-nvalue` and `-n=value`.
pub(crate) fn split<'w>(table: &Options, word: &'w str) -> (&'w str, Option<&'w str>) {
    if word.starts_with("--") {
        return word.split_once('=').map_or((word, None), |(name, value)| (name, Some(value)));
    }
    match word.split_at_checked(2) {
        Some((name, value)) if table.joined_values && !value.is_empty() => {
            (name, Some(value.strip_prefix('=').unwrap_or(value)))
        }
        _ => (word, None),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_agent_that_was_launched_keeps_its_hooks() {
        let check = |agent, line: &str, expected| {
            let words: Vec<&str> = line.split(' ').collect();
            let is_rendered = |file: &str| file == "/s/own.json";
            assert_eq!(keeps_hooks_on(agent, &words, is_rendered), expected, "{line}");
        };
        let claude = |line: &str, expected| {
            let line = line
                .replace("ON", r#"--settings {"disableAllHooks":false}"#)
                .replace("OFF", r#"--settings {"disableAllHooks":true}"#);
            check(AgentId::CLAUDE, &line, expected);
        };
        claude("claude -p ON go", true);
        claude("claude OFF go", false);
        claude("claude", false);
        claude("claude --model x ON go", true);
        claude("node /x/cli.js -cp ON", true);
        claude(r#"claude --settings={"disableAllHooks":false} go"#, true);
        // The last of two applies.
        claude("claude ON OFF", false);
        claude("claude OFF ON", false);
        claude("claude ON --settings x.json", false);
        // castellan's own file, and no other one.
        claude("claude --settings /s/own.json -p go", true);
        claude("claude --settings=/s/own.json -p go", true);
        for other in ["/s/own.json.", "/s//own.json", "/s/other.json", "s/own.json", r#"{"x":"/s/own.json"}"#]
        {
            claude(&format!("claude --settings {other} go"), false);
            claude(&format!("claude --settings /s/own.json --settings {other} go"), false);
        }
        claude("claude --settings /s/own.json OFF", false);
        claude("claude --settings /s/own.json --bare", false);
        claude("claude --model /s/own.json go", false);
        claude("claude -- --settings /s/own.json", false);
        // A prompt, and another option's value.
        claude("claude -- ON", false);
        claude("claude --append-system-prompt ON", false);
        claude("claude --unknown ON", false);
        claude("claude --unknown x ON", true);
        claude("claude --resume ON", true);
        claude("claude ON -- --bare", true);
        // Options that switch hooks off anyway.
        claude("claude ON --bare", false);
        claude("claude ON --setting-sources project,local", false);
        claude("claude ON --setting-sources user", true);
        let codex = |line: &str, expected| check(AgentId::CODEX, line, expected);
        codex("codex -c features.hooks=true exec", true);
        codex("codex --config features.hooks=true exec", false);
        codex("codex -c features.hooks=false", false);
        codex("codex -c /s/own.json exec", false);
        codex("codex -c features.hooks=true -c features.hooks=false exec", false);
        codex("codex -c features.hooks=true --disable hooks exec", false);
        codex("codex exec -c features.hooks=true --disable=codex_hooks go", false);
        codex("codex -c features.hooks=true -cfeatures={hooks=false} go", false);
        codex("codex -c features.hooks=true -c features.hooks=nonsense go", false);
        codex("codex -c features.hooks=true -c model=x --disable other -- --disable hooks", true);
    }

    #[test]
    fn a_command_line_brings_hooks_and_switches() {
        let check = |agent, line: &[&str], expected: &[GivenHooks]| {
            assert_eq!(given_hooks(agent, line), expected, "{line:?}");
        };
        let text = |text: &str| text.to_owned();
        let claude = |line: &[&str], expected: &[GivenHooks]| {
            check(AgentId::CLAUDE, &[&["claude"], line].concat(), expected);
        };
        claude(&["-p", "go"], &[]);
        claude(&["--settings", " {}", "go"], &[GivenHooks::Settings(text(" {}"))]);
        claude(&["--settings=x.json"], &[GivenHooks::SettingsFile(text("x.json"))]);
        claude(&["--settings", "{x"], &[GivenHooks::SettingsFile(text("{x"))]);
        claude(
            &["--plugin-dir", "a", "--plugin-dir=b.ZIP", "--plugin-url", "https://x/y", "--add-dir", "d"],
            &[
                GivenHooks::Plugin(text("a")),
                GivenHooks::Unread(text("--plugin-dir b.ZIP")),
                GivenHooks::Unread(text("--plugin-url https://x/y")),
                GivenHooks::Folder(text("d")),
            ],
        );
        claude(&["--settings"], &[GivenHooks::SettingsFile(text(""))]);
        claude(&["--bare", "go"], &[GivenHooks::Off(text("--bare"))]);
        claude(&["--setting-sources="], &[GivenHooks::Off(text("--setting-sources"))]);
        claude(&["--agents", r#"{"a":{"prompt":"x"}}"#], &[]);
        let hooks = r#"{"a":{"hooks":{}}}"#;
        claude(&["--agents", hooks], &[GivenHooks::Unread(format!("--agents {hooks}"))]);
        // Not options: a prompt, and values.
        claude(&["say --bare", "--", "--bare", "--settings", "{}"], &[]);
        claude(&["--append-system-prompt", "--plugin-url"], &[]);
        // The agent searches for these among all words.
        claude(&["--append-system-prompt", "--bare"], &[GivenHooks::Off(text("--bare"))]);
        claude(&["--safe-mode"], &[GivenHooks::Off(text("--safe-mode"))]);
        claude(
            &["--restricted", "--resume", "--bare", "--", "--safe-mode"],
            &[GivenHooks::Off(text("--bare")), GivenHooks::Off(text("--restricted"))],
        );
        claude(&["--managed-settings", "{}"], &[]);
        let policy = r#"--managed-settings {"allowManagedHooksOnly":true}"#;
        claude(&policy.split(' ').collect::<Vec<_>>(), &[GivenHooks::Off(text(policy))]);
        let root = "--project-config-root /x";
        claude(&root.split(' ').collect::<Vec<_>>(), &[GivenHooks::Unread(text(root))]);
        let folder = |path: &str| GivenHooks::Folder(text(path));
        claude(&["--add-dir", "a", "b", "-p", "c"], &[folder("a"), folder("b")]);
        // The word may belong to a prompt.
        claude(&["--unknown", "--", "--bare"], &[GivenHooks::Off(text("--bare"))]);
        claude(&["--model", "--", "--bare"], &[GivenHooks::Off(text("--bare"))]);
        let codex = |line: &[&str], expected: &[GivenHooks]| {
            check(AgentId::CODEX, &[&["codex"], line].concat(), expected);
        };
        codex(&["--settings", "{}", "-c", "model=x", "--enable", "hooks"], &[]);
        codex(&["--disable", "hooks"], &[GivenHooks::Off(text("--disable hooks"))]);
        let line = |line: &str| GivenHooks::Settings(format!("{line}\n"));
        codex(&["-c", "features.hooks=false"], &[line("features.hooks = false")]);
        codex(&["--config=hooks.PreToolUse=[]"], &[line("hooks.PreToolUse = []")]);
        codex(&["-cfeatures={hooks=false}"], &[line("features = {hooks=false}")]);
        codex(&["-c", "hooks=@x"], &[GivenHooks::Unread(text("-c hooks=@x"))]);
        let state = "hooks.state.x.enabled=false";
        codex(&["-c", state], &[GivenHooks::Unread(format!("-c {state}"))]);
        codex(&["--dangerously-bypass-hook-trust"], &[GivenHooks::TrustsAll]);
        codex(&["exec", "-p", "fast", "go"], &[GivenHooks::Profile(text("fast"))]);
        codex(&["--config", "profile=\"fast\""], &[GivenHooks::Profile(text("fast"))]);
        codex(&["--", "-c", "features.hooks=false"], &[]);
    }
}
