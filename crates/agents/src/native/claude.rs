//! Claude Code's (2.1.330) `settings.json`: permission rules, sandbox and hooks. This module must not know where the
//! file is.
//!
//! Measured with castellan's hook removed: a `Read` deny also stops the shell's own file commands (`cat`, `grep`, `cp`)
//! and, if the pattern names one path, every program in the sandbox. A deny matches past `VAR=`, `&&` and `$(...)`. Deny
//! and ask hold in every mode; in `auto` an allow spares the judging model, except for interpreters.

use serde_json::{Map, Value as Json, json};

use super::{NativeValues, StoppedCommand, of_this_system};
use crate::agent::{AgentId, hook_events};
use crate::settings::group;

pub(super) const PATHS: &[&str] = &[".claude/settings.json"];

pub(super) fn texts(agent: AgentId, values: &NativeValues) -> Vec<String> {
    vec![text(&settings(agent, values))]
}

/// Writes settings as castellan does: indented by two blanks, with a final line end.
pub(super) fn text(settings: &Json) -> String {
    format!("{settings:#}\n")
}

pub(super) fn arguments(directory: &str) -> Vec<String> {
    let file = PATHS.iter().map(|path| format!("{directory}/{path}"));
    ["--settings".to_owned()].into_iter().chain(file).collect()
}

fn settings(agent: AgentId, values: &NativeValues) -> Json {
    let mut settings = Map::new();
    settings.insert("disableAllHooks".to_owned(), json!(false));
    settings.insert("permissions".to_owned(), permissions(values));
    settings.insert("hooks".to_owned(), hooks(agent, values));
    // Without its tools a required sandbox ends the agent, and one that is not required does nothing.
    if values.has_sandbox {
        settings.insert("sandbox".to_owned(), sandbox(values));
    }
    Json::Object(settings)
}

pub(super) fn hooks(agent: AgentId, values: &NativeValues) -> Json {
    let events = hook_events(agent).iter();
    events.map(|event| (event.name.to_owned(), json!([group(agent, &values.hook, event)]))).collect()
}

fn permissions(values: &NativeValues) -> Json {
    let allow = values.commands.iter().map(|command| {
        let line = command.words.join(" ");
        if command.goes_on { format!("Bash({line} *)") } else { format!("Bash({line})") }
    });
    let stopped = |is_denied: bool| {
        let those = values.stopped.iter().filter(move |stopped| stopped.is_denied == is_denied);
        those.map(|StoppedCommand { words, .. }| format!("Bash({} *)", words.join(" ")))
    };
    let secrets = |is_wide: bool| {
        let those = values.secrets.iter().filter(move |secret| secret.is_wide == is_wide);
        // The sandbox has a `/proc` of its own. It looks matches up before each command, and a command fails if a process
        // with such a file ends meanwhile (measured).
        let those = those.filter(|secret| !values.has_sandbox || !secret.pattern.starts_with("/proc/"));
        of_this_system(those.map(|secret| secret.pattern.as_str())).map(rule_path)
    };
    let kept = || of_this_system(values.kept.iter().map(String::as_str)).map(rule_path);
    // `Edit` rules are those of every tool that writes. A file of the workspace may be written, as castellan permits it.
    let unwritten =
        secrets(false).filter(|path| path.ends_with("/**") || !path.starts_with("//**/")).chain(kept());
    let deny = stopped(true)
        .chain(secrets(false).map(|path| format!("Read({path})")))
        .chain(unwritten.map(|path| format!("Edit({path})")));
    let ask = stopped(false).chain(secrets(true).map(|path| format!("Read({path})")));
    json!({
        "additionalDirectories": values.directories,
        "allow": allow.collect::<Vec<_>>(),
        "ask": ask.collect::<Vec<_>>(),
        "defaultMode": if values.is_auto { "auto" } else { "default" },
        "deny": deny.collect::<Vec<_>>(),
        "disableBypassPermissionsMode": "disable",
    })
}

/// Returns a pattern as the path of a rule, in which one `/` begins at the settings file.
fn rule_path(pattern: &str) -> String {
    match pattern.strip_prefix("**/") {
        Some(rest) => format!("//**/{rest}"),
        None if pattern.starts_with('/') => format!("/{pattern}"),
        None => pattern.to_owned(),
    }
}

/// A command that has no sandbox does not run. `autoAllowBashIfSandboxed` would let every command in the sandbox run
/// without a prompt, one with a denied file too (measured).
fn sandbox(values: &NativeValues) -> Json {
    let mut sandbox = json!({
        "allowUnsandboxedCommands": false,
        "autoAllowBashIfSandboxed": false,
        "enabled": true,
        "failIfUnavailable": true,
        "filesystem": { "denyRead": hidden(values) },
    });
    if let (Some(hosts), Some(fields)) = (&values.hosts, sandbox.as_object_mut()) {
        fields.insert("network".to_owned(), json!({ "allowedDomains": hosts }));
    }
    sandbox
}

/// Returns the usual places of secrets that a rule names anywhere: on Linux the sandbox hides a path, but not the matches
/// of a pattern (measured). It takes the other paths from the `Read` rules.
fn hidden(values: &NativeValues) -> Vec<String> {
    let narrow = values.secrets.iter().filter(|secret| !secret.is_wide);
    let names = narrow.filter_map(|secret| secret.pattern.strip_prefix("**/"));
    let names = names.map(|name| name.strip_suffix("/**").unwrap_or(name)).filter(|name| !name.contains('*'));
    names.flat_map(|name| [format!("~/{name}"), format!("{}/{name}", values.work_dir)]).collect()
}

#[cfg(test)]
mod tests {
    use super::super::tests::values;
    use super::super::{native_arguments, native_files};
    use super::*;
    use crate::permissions::{PermissionFormat, PermissionSubject, PermissionVerdict};
    use crate::settings::inspect;

    #[test]
    fn the_text_reads_back_as_the_values() {
        let [file] = &native_files(AgentId::CLAUDE, &values(), "/d")[..] else { panic!("one file") };
        let read = PermissionFormat::Claude.read(&file.text);
        assert_eq!(read.unread, []);
        let of = |verdict| {
            let those = read.rules.iter().filter(move |rule| rule.verdict == verdict);
            those
                .map(|rule| match &rule.subject {
                    PermissionSubject::Short(short) => short.as_str(),
                    other @ (PermissionSubject::Prefix(_) | PermissionSubject::Text(_)) => {
                        panic!("{other:?}")
                    }
                })
                .collect::<Vec<_>>()
        };
        assert_eq!(of(PermissionVerdict::Allow), ["Bash(cargo test *)", "Bash(./gen.sh --all)"]);
        assert_eq!(of(PermissionVerdict::Ask), ["Bash(terraform destroy *)", "Read(//**/.env.*)"]);
        assert_eq!(
            of(PermissionVerdict::Deny),
            [
                "Bash(gh repo delete *)",
                "Read(//**/.ssh/**)",
                "Read(~/.aws/credentials)",
                "Read(~/.azure/msal_token_cache*)",
                "Read(//etc/ssl/private/**)",
                "Read(//**/.env)",
                "Edit(//**/.ssh/**)",
                "Edit(~/.aws/credentials)",
                "Edit(~/.azure/msal_token_cache*)",
                "Edit(//etc/ssl/private/**)",
                "Edit(~/.config/castellan/**)",
                "Edit(//**/.claude/settings.json)",
                "Edit(//etc/codex/**)",
            ]
        );
        let found = inspect(AgentId::CLAUDE, &file.text).unwrap();
        assert_eq!(found.ours.len(), hook_events(AgentId::CLAUDE).len());
        let settings: Json = serde_json::from_str(&file.text).unwrap();
        assert_eq!(settings["sandbox"]["network"]["allowedDomains"], json!(["static.crates.io"]));
        assert_eq!(
            settings["sandbox"]["filesystem"]["denyRead"],
            json!(["~/.ssh", "/home/u/work/.ssh", "~/.env", "/home/u/work/.env"])
        );
        assert_eq!(settings["permissions"]["additionalDirectories"], json!(["/home/u/repo"]));
        assert_eq!(settings["hooks"]["PreToolUse"][0]["hooks"][0]["onFailure"], json!("block"));
        assert_eq!(
            native_arguments(AgentId::CLAUDE, &values(), "/d", "7f"),
            ["--settings", "/d/.claude/settings.json"]
        );
    }

    #[test]
    fn auto_mode_and_a_missing_sandbox_are_said_and_hosts_stay_unknown() {
        let values = NativeValues { is_auto: true, has_sandbox: false, ..values() };
        let auto = settings(AgentId::CLAUDE, &values);
        assert_eq!((&auto["permissions"]["defaultMode"], auto.get("sandbox")), (&json!("auto"), None));
        let reads = |settings: &Json| settings.to_string().contains("Read(//proc/*/environ)");
        assert!(reads(&auto));
        let values = NativeValues { has_sandbox: true, hosts: None, ..values };
        assert!(!reads(&settings(AgentId::CLAUDE, &values)));
        assert_eq!(settings(AgentId::CLAUDE, &values)["sandbox"].get("network"), None);
    }
}
