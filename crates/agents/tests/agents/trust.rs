//! The hooks that an agent runs: Codex's trust, and the switches of a repository.

use castellan_agents::{AgentId, HookCommand, Trust, distrust, hook_trust, register, switches_off};

const PATH: &str = "/home/u/.codex/hooks.json";

/// Output of the app server of Codex 0.169.0 (`hooks/list`, `currentHash`) for the file that [`hooks_json`] returns.
const MEASURED: &[(&str, &str)] = &[
    ("pre_tool_use:0:0", "sha256:a7db280a18ce248f366cf74fda43bd861c0ba3eb0fc7d22e4175e58cf185b367"),
    ("permission_request:0:0", "sha256:e105aad3fa9ebee0500f88cb9c98451fee242f7235ec68de2597b94ac494a09e"),
    ("post_tool_use:1:0", "sha256:527dec2f3ab0c2022a68ee08f9653534f5d5c15c1613ef883f53d9bc168c09fe"),
    ("user_prompt_submit:0:0", "sha256:15bf0ed0df850d61bdafc78dc02786c0a5766d12b1ea3b54cd1eb7e748c30068"),
];

fn hooks_json() -> String {
    let hook = HookCommand {
        program: "/usr/local/bin/castellan-hook".to_owned(),
        home: "/home/ü/it's here".to_owned(),
    };
    let text = r#"{"description":"d","hooks":{"PostToolUse":[{"hooks":[{"type":"command","command":"/bin/other"}]}]}}"#;
    register(AgentId::CODEX, text, &hook).unwrap()
}

#[track_caller]
fn check(config: &str, hooks_json: &str, [pre, permission, post, prompt]: [Trust; 4]) {
    let mut found = hook_trust(config, PATH, hooks_json);
    found.sort_by(|a, b| a.0.cmp(&b.0));
    let expected = [
        ("PermissionRequest", permission),
        ("PostToolUse", post),
        ("PreToolUse", pre),
        ("UserPromptSubmit", prompt),
    ];
    assert_eq!(found, expected.map(|(event, trust)| (event.to_owned(), trust)));
}

#[test]
fn trust_is_read_as_codex_reads_it() {
    use Trust::{Changed, Disabled, Trusted, Untrusted};
    let json = hooks_json();
    let trusting: String = MEASURED
        .iter()
        .map(|(key, hash)| {
            format!("[hooks.state.\"{PATH}:{key}\"]\ntrusted_hash = \"{hash}\"\nenabled = true\n")
        })
        .collect();
    check(&trusting, &json, [Trusted; 4]);
    check("", &json, [Untrusted; 4]);
    check("not = = toml", &json, [Untrusted; 4]);
    check(&trusting.replace(PATH, "/elsewhere/hooks.json"), &json, [Untrusted; 4]);

    let other_hash = trusting.replacen("sha256:a7", "sha256:a8", 1);
    check(&other_hash, &json, [Changed, Trusted, Trusted, Trusted]);
    let inline = format!(
        "[hooks.state]\n\"{PATH}:{}\" = {{ trusted_hash = \"{}\", enabled = false }}\n\"{PATH}:{}\" = {{ enabled = true }}",
        MEASURED[0].0, MEASURED[0].1, MEASURED[1].0
    );
    check(&inline, &json, [Disabled, Untrusted, Untrusted, Untrusted]);

    let timeout = json.replace("\"timeout\": 10", "\"timeout\": 11");
    check(&trusting, &timeout, [Trusted, Trusted, Changed, Changed]);
    check(
        &trusting,
        &json.replacen("\"matcher\": \"*\"", "\"matcher\": \"Bash\"", 2),
        [Changed, Trusted, Changed, Trusted],
    );
    check(
        &trusting,
        &json.replace("--event PreToolUse", "--event  PreToolUse"),
        [Changed, Trusted, Trusted, Trusted],
    );
    assert_eq!(hook_trust(&trusting, PATH, "{ // Codex reads no comments\n}"), []);
}

#[test]
fn a_repository_that_switches_hooks_off_is_told() {
    let check = |agent, text: &str, switch: Option<&str>| {
        assert_eq!(switches_off(agent, text), switch, "{text}");
    };
    let claude = Some("disableAllHooks: true");
    check(AgentId::CLAUDE, r#"{"disableAllHooks":true}"#, claude);
    check(AgentId::CLAUDE, "\u{feff}{ // c\n \"disableAllHooks\": true, \"hooks\": 1}", claude);
    check(AgentId::CLAUDE, r#"{"disableAllHooks":true,"disableAllHooks":false}"#, claude);
    check(AgentId::CLAUDE, r#"{"disableAllHooks":false}"#, None);
    check(AgentId::CLAUDE, r#"{"x":{"disableAllHooks":true}}"#, None);
    check(AgentId::CLAUDE, "", None);
    check(AgentId::CLAUDE, "{", None);
    check(AgentId::CODEX, "[features]\nhooks = false\n", Some("features.hooks = false"));
    check(AgentId::CODEX, "features = { hooks = false }", Some("features.hooks = false"));
    check(AgentId::CODEX, "features.codex_hooks = false", Some("features.codex_hooks = false"));
    check(AgentId::CODEX, "[features]\nhooks = true\n", None);
    check(AgentId::CODEX, "hooks = false\n", None);
    check(AgentId::CODEX, "[features", None);
}

#[test]
fn a_hook_that_codex_does_not_run_is_told_with_its_reason() {
    let json = hooks_json();
    let check = |config: &str, trusts_all: bool, expected: Option<&str>| {
        let found = distrust(config, PATH, &json, trusts_all);
        assert_eq!(found.is_some(), expected.is_some(), "{config} {found:?}");
        assert!(found.unwrap_or_default().contains(expected.unwrap_or_default()), "{config} {found:?}");
    };
    let (key, hash) = MEASURED[0];
    let state = |rest: &str| format!("[hooks.state.\"{PATH}:{key}\"]\n{rest}\n");
    let trusted = format!("trusted_hash = \"{hash}\"");
    check(&state(&trusted), false, None);
    check(&state(&format!("{trusted}\nenabled = false")), false, Some("switched off"));
    check(&state(&format!("{trusted}\nenabled = false")), true, Some("switched off"));
    check("", false, Some("not trusted"));
    check("", true, None);
    check(&state("trusted_hash = \"sha256:1\""), false, Some("not the one"));
    // There is no hook of castellan: nothing to report.
    assert_eq!(distrust("", PATH, "{}", false), None);
}
