//! Merges of an agent's own settings never loosen what a person has written.

use castellan_agents::{
    AgentId, HookCommand, NativeCommand, NativeSecret, NativeValues, PermissionFormat, PermissionSubject,
    PermissionVerdict, StoppedCommand, merge_native, native_files,
};
use proptest::prelude::*;
use serde_json::{Value as Json, json};

fn words(line: &str) -> Vec<String> {
    line.split(' ').map(str::to_owned).collect()
}

fn values() -> NativeValues {
    let secret = |pattern: &str| NativeSecret {
        pattern: pattern.to_owned(),
        is_wide: false,
        present: Some("/home/u/.ssh".to_owned()),
    };
    NativeValues {
        work_dir: "/home/u/work".to_owned(),
        directories: vec!["/home/u/repo".to_owned()],
        commands: vec![NativeCommand { words: words("cargo test"), goes_on: true }],
        stopped: vec![
            StoppedCommand { words: words("gh repo delete"), is_denied: true },
            StoppedCommand { words: words("terraform destroy"), is_denied: false },
        ],
        hosts: Some(vec!["example.org".to_owned()]),
        secrets: vec![secret("**/.ssh/**"), secret("**/.env")],
        kept: vec!["~/.config/castellan/**".to_owned()],
        hook: HookCommand { program: "/opt/castellan-hook".to_owned(), home: "/home/u/c".to_owned() },
        is_auto: false,
        has_sandbox: true,
    }
}

fn merge(agent: AgentId, path: &str, text: &str) -> String {
    merge_native(agent, path, text, &values(), "/home/u/work").unwrap().text
}

const CLAUDE: &str = ".claude/settings.json";
const RULES: &[&str] =
    &["Bash(cargo *)", "Bash(cargo test *)", "Read(~/.ssh/**)", "Bash(gh *)", "Edit", "Bash"];
const MODES: &[&str] = &["plan", "dontAsk", "default", "acceptEdits", "auto", "bypassPermissions"];

fn rules() -> impl Strategy<Value = Vec<&'static str>> {
    prop::collection::vec(prop::sample::select(RULES), 0..4)
}

/// Settings of a person.
fn settings() -> impl Strategy<Value = Json> {
    let mode = prop::option::of(prop::sample::select(MODES));
    let switches = prop::collection::vec(prop::option::of(any::<bool>()), 5);
    let hosts = prop::option::of(prop::collection::vec(prop::sample::select(&["a.example", "*"][..]), 0..2));
    (rules(), rules(), rules(), mode, switches, hosts).prop_map(
        |(allow, ask, deny, mode, switches, hosts)| {
            let mut settings =
                json!({ "model": "mine", "permissions": { "allow": allow, "ask": ask, "deny": deny } });
            if let Some(mode) = mode {
                settings["permissions"]["defaultMode"] = json!(mode);
            }
            let keys =
                ["enabled", "failIfUnavailable", "allowUnsandboxedCommands", "autoAllowBashIfSandboxed"];
            for (key, value) in keys.iter().zip(&switches) {
                if let Some(value) = value {
                    settings["sandbox"][*key] = json!(value);
                }
            }
            if let Some(Some(value)) = switches.last() {
                settings["disableAllHooks"] = json!(value);
            }
            if let Some(hosts) = hosts {
                settings["sandbox"]["network"] = json!({ "allowedDomains": hosts });
            }
            settings
        },
    )
}

/// The rules of a text with a verdict.
fn of(text: &str, verdict: PermissionVerdict) -> Vec<String> {
    let read = PermissionFormat::Claude.read(text);
    assert_eq!(read.unread, []);
    let those = read.rules.into_iter().filter(|rule| rule.verdict == verdict);
    those
        .map(|rule| match rule.subject {
            PermissionSubject::Short(short) => short,
            other @ (PermissionSubject::Prefix(_) | PermissionSubject::Text(_)) => panic!("{other:?}"),
        })
        .collect()
}

proptest! {
    #[test]
    fn a_merge_into_claudes_settings_never_loosens(theirs in settings()) {
        let before = theirs.to_string();
        let after = merge(AgentId::CLAUDE, CLAUDE, &before);
        prop_assert_eq!(&merge(AgentId::CLAUDE, CLAUDE, &after), &after, "a fixed point");
        let merged: Json = serde_json::from_str(&after).unwrap();
        prop_assert_eq!(of(&after, PermissionVerdict::Allow), of(&before, PermissionVerdict::Allow));
        for verdict in [PermissionVerdict::Ask, PermissionVerdict::Deny] {
            let (theirs, merged) = (of(&before, verdict), of(&after, verdict));
            prop_assert!(merged.starts_with(&theirs), "{merged:?}");
        }
        for rule in ["Bash(gh repo delete *)", "Read(//**/.env)", "Edit(~/.config/castellan/**)"] {
            prop_assert!(of(&after, PermissionVerdict::Deny).iter().any(|one| one == rule), "{rule}");
        }
        let rank = |settings: &Json| {
            settings["permissions"]["defaultMode"].as_str().and_then(|mode| MODES.iter().position(|one| *one == mode))
        };
        prop_assert!(rank(&merged) <= rank(&theirs) && rank(&merged) <= Some(2), "{merged}");
        prop_assert_eq!(rank(&merged).is_some(), rank(&theirs).is_some());
        for (key, strict) in [("enabled", true), ("failIfUnavailable", true), ("allowUnsandboxedCommands", false), ("autoAllowBashIfSandboxed", false)] {
            prop_assert_eq!(&merged["sandbox"][key], &json!(strict), "{}", key);
        }
        prop_assert_eq!(&merged["disableAllHooks"], &json!(false));
        prop_assert_eq!(&merged["sandbox"]["network"], &theirs["sandbox"]["network"]);
        prop_assert_eq!(&merged["permissions"]["additionalDirectories"], &Json::Null);
        prop_assert_eq!(&merged["permissions"]["disableBypassPermissionsMode"], &json!("disable"));
        prop_assert_eq!(&merged["model"], &json!("mine"));
    }

    #[test]
    fn any_text_is_merged_or_an_error(text in "\\PC{0,60}") {
        for agent in AgentId::ALL {
            for file in native_files(agent, &values(), "/d") {
                let merged = merge_native(agent, file.path, &text, &values(), "/d");
                if let Ok(merged) = merged {
                    let again = merge_native(agent, file.path, &merged.text, &values(), "/d").unwrap();
                    prop_assert_eq!(again.text, merged.text, "{}", file.path);
                }
            }
        }
    }
}

#[test]
fn a_rendered_text_is_a_fixed_point() {
    for agent in AgentId::ALL {
        for file in native_files(agent, &values(), "/home/u/work") {
            let merged = merge_native(agent, file.path, &file.text, &values(), "/home/u/work").unwrap();
            assert_eq!((merged.text, merged.kept), (file.text, vec![]), "{}", file.path);
        }
    }
}

#[test]
fn a_codex_configuration_keeps_what_is_stricter_and_loses_what_is_looser() {
    const CONFIG: &str = ".codex/config.toml";
    let check = |text: &str, has_profile: bool, kept: usize| {
        let merged = merge_native(AgentId::CODEX, CONFIG, text, &values(), "/d").unwrap();
        let has = merged.text.contains("default_permissions = \"castellan\"");
        assert_eq!((has, merged.kept.len()), (has_profile, kept), "{text}\n{}", merged.text);
        assert!(merged.text.contains("[[hooks.PreToolUse]]") && merged.text.contains("hooks = true"));
        assert!(!merged.text.contains("/home/u/repo"), "no further directory");
        assert_eq!(merge(AgentId::CODEX, CONFIG, &merged.text), merged.text);
        merged.text
    };
    let merged = check("# mine\nmodel = \"x\"\nsandbox_mode = \"danger-full-access\"\n", true, 0);
    assert!(merged.contains("# mine") && !merged.contains("danger"), "{merged}");
    check("[sandbox_workspace_write]\nwritable_roots = [\"/\"]\n", true, 0);
    let merged = check("approval_policy = \"never\"\nsandbox_mode = \"read-only\"\n", false, 1);
    assert!(merged.contains("approval_policy = \"never\""), "{merged}");
    check("default_permissions = \"mine\"\n[permissions.mine.filesystem]\n\":root\" = \"read\"\n", false, 1);
    check("[features]\nhooks = false\n", true, 0);
    let merged = check("[sandbox_workspace_write]\nexclude_slash_tmp = true\n", false, 1);
    assert!(merged.contains("exclude_slash_tmp = true"), "{merged}");
    let table = "[sandbox_workspace_write]\nexclude_tmpdir_env_var = true\n";
    check(&format!("sandbox_mode = \"danger-full-access\"\n{table}"), true, 0);
}

#[test]
fn a_gemini_policy_gets_denies_alone() {
    let mine = "[[rule]]\ntoolName = \"run_shell_command\"\ndecision = \"ask_user\"\npriority = 5\n";
    let merged = merge(AgentId::GEMINI, ".gemini/castellan.toml", mine);
    assert!(merged.starts_with(mine.trim_end()), "{merged}");
    assert!(!merged.contains("decision = \"allow\"") && merged.contains("decision = \"deny\""), "{merged}");
    let mine = "prefix_rule(pattern=[\"ls\"], decision=\"forbidden\")";
    let merged = merge(AgentId::CODEX, ".codex/rules/castellan.rules", mine);
    assert!(merged.starts_with(mine) && merged.contains("\"gh\", \"repo\", \"delete\""), "{merged}");
}
