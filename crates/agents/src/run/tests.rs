use super::*;

fn hook() -> HookCommand {
    HookCommand { program: "/b/castellan-hook".to_owned(), home: "/h".to_owned() }
}

fn words(line: &str) -> Vec<&str> {
    line.split_ascii_whitespace().collect()
}

#[test]
fn an_observer_keeps_its_lockdown_around_the_users_words() {
    let got = observer_arguments(AgentId::CODEX, &["exec", "--json", "a b"], &hook()).unwrap();
    let exec = got.iter().position(|word| word == "exec").unwrap();
    assert_eq!(got[exec..], ["exec", "--skip-git-repo-check", "--json", "a b"]);
    assert!(got[..exec].iter().any(|word| word == "sandbox_mode=\"read-only\""));
    let got = observer_arguments(AgentId::CLAUDE, &["-p", "go"], &hook()).unwrap();
    assert_eq!(got[got.len() - 2..], ["-p", "go"]);
    let settings = got.iter().skip_while(|word| *word != "--settings").nth(1).unwrap().to_str().unwrap();
    assert!(
        settings.contains("/b/castellan-hook") && settings.contains(r#""disableAllHooks":false"#),
        "{settings}"
    );
    assert!(!settings.contains('\n'), "{settings}");
}

#[test]
fn an_observer_rejects_every_argument_that_is_not_listed() {
    let check = |agent, line: &str, expected: Result<(), ObserverProblem>| {
        assert_eq!(observer_arguments(agent, &words(line), &hook()).map(drop), expected, "{line}");
    };
    let option = |name: &str| Err(ObserverProblem::Option(name.to_owned()));
    let value = |name: &str| Err(ObserverProblem::Value(name.to_owned()));
    let claude = |line: &str, expected| check(AgentId::CLAUDE, line, expected);
    claude("-p go", Ok(()));
    claude("--print --verbose --output-format stream-json --model x go", Ok(()));
    claude("-p --append-system-prompt=--tools go", Ok(()));
    claude("-p -- --dangerously-skip-permissions", Ok(()));
    claude("-p --resume 01-ab go", Ok(()));
    for loosens in [
        "--dangerously-skip-permissions",
        "--allow-dangerously-skip-permissions",
        "--allowedTools",
        "--allowed-tools",
        "--settings",
        "--mcp-config",
        "--add-dir",
        "--permission-mode",
        "--tools",
        "--plugin-dir",
        "--plugin-url",
        "--setting-sources",
        "--bare",
        "--agents",
        "--agent",
        "--permission-prompt-tool",
        "--disallowedTools",
        "--ide",
        "--managed-settings",
        "--no-such-option",
        "-pc",
        "-cp",
        "--chrome",
        "-w",
        "--bg",
        "--remote-control",
    ] {
        claude(&format!("-p {loosens} x"), option(loosens));
        claude(&format!("-p {loosens}=x"), option(loosens));
        // Never taken for the value of the option before.
        let hidden = claude_value(loosens);
        assert!(matches!(hidden, Err(ObserverProblem::Value(_))), "{hidden:?}");
    }
    claude("-p --model", value("--model"));
    claude("-p --model -- --tools default", value("--model"));
    claude("-p=x", option("-p"));
    claude("-r=x -p", option("-r"));
}

#[test]
fn an_observer_runs_without_a_person() {
    for line in ["", "go", "mcp serve", "plugin install x", "-- -p"] {
        let got = observer_arguments(AgentId::CLAUDE, &words(line), &hook());
        assert!(matches!(got, Err(ObserverProblem::Attended(_))), "{line}: {got:?}");
    }
}

#[test]
fn an_observer_of_codex_rejects_every_argument_that_is_not_listed() {
    let check = |agent, line: &str, expected: Result<(), ObserverProblem>| {
        assert_eq!(observer_arguments(agent, &words(line), &hook()).map(drop), expected, "{line}");
    };
    let option = |name: &str| Err(ObserverProblem::Option(name.to_owned()));
    let codex = |line: &str, expected| check(AgentId::CODEX, line, expected);
    codex("exec --json -m x resume 01-ab go", Ok(()));
    codex("e go", Ok(()));
    for loosens in [
        "-c",
        "--config",
        "--enable",
        "--disable",
        "-p",
        "--profile",
        "-s",
        "--sandbox",
        "--yolo",
        "--full-auto",
        "-C",
        "--cd",
        "--dangerously-bypass-approvals-and-sandbox",
        "--add-dir",
        "--search",
        "--oss",
        "--ignore-rules",
        "--worktree",
        "--trust",
        "-csandbox_mode=x",
        "-sdanger-full-access",
        "-mx",
    ] {
        codex(&format!("exec {loosens} x"), option(loosens.split('=').next().unwrap()));
    }
    for line in
        ["", "go", "mcp-server", "-c x exec go", "--json exec", "cloud exec", "apply", "resume --last"]
    {
        let got = observer_arguments(AgentId::CODEX, &words(line), &hook());
        assert!(matches!(got, Err(ObserverProblem::Attended(_))), "{line}: {got:?}");
    }
    for agent in [AgentId::GEMINI, AgentId::QWEN] {
        assert_eq!(
            observer_arguments(agent, &["-p", "go"], &hook()),
            Err(ObserverProblem::Unsupported(agent.title()))
        );
    }
}

fn claude_value(word: &str) -> Result<Vec<OsString>, ObserverProblem> {
    observer_arguments(AgentId::CLAUDE, &["-p", "--model", word, "go"], &hook())
}

#[test]
fn an_observer_denies_every_tool_of_the_agent_by_name() {
    let got = observer_arguments(AgentId::CLAUDE, &["-p"], &hook()).unwrap();
    let list = got.iter().find_map(|word| word.to_str()?.strip_prefix("--disallowedTools=")).unwrap();
    let denied: Vec<&str> = list.split(',').collect();
    // The measured version warns about a name that it does not know.
    for tool in AgentId::CLAUDE.spec().tools.iter().filter(|tool| tool.raw != "MultiEdit") {
        assert!(denied.contains(&tool.raw), "{}", tool.raw);
    }
}

#[test]
fn streams_and_sessions_are_found_among_the_arguments() {
    let stream = |agent, line: &str, expected| assert_eq!(is_stream(agent, &words(line)), expected, "{line}");
    stream(AgentId::CLAUDE, "claude -p --output-format stream-json go", true);
    stream(AgentId::CLAUDE, "claude -p --output-format=stream-json go", true);
    stream(AgentId::CLAUDE, "claude -p --output-format json go", false);
    stream(AgentId::CLAUDE, "claude -p -- --output-format stream-json", false);
    stream(AgentId::CODEX, "codex -c features.hooks=true exec --json go", true);
    stream(AgentId::CODEX, "codex exec go", false);
    stream(AgentId::GEMINI, "gemini -o stream-json -p go", false);
    let session =
        |line: &str, expected| assert_eq!(given_session(AgentId::CLAUDE, &words(line)), expected, "{line}");
    session("claude -p go", GivenSession::New("--session-id"));
    session("claude -p --session-id 01-ab go", GivenSession::Named("01-ab".to_owned()));
    session("claude -p --session-id ../x go", GivenSession::Unknown);
    session("claude -p --session-id a --session-id b go", GivenSession::Unknown);
    session("claude -p --resume x go", GivenSession::Unknown);
    session("claude -c -p go", GivenSession::Unknown);
    assert_eq!(given_session(AgentId::CODEX, &words("codex exec go")), GivenSession::Unknown);
    assert_eq!(unsaved(AgentId::CODEX, &words("codex exec --ephemeral go")), Some("--ephemeral"));
    assert_eq!(unsaved(AgentId::CODEX, &words("codex exec go")), None);
}

#[test]
fn an_observer_takes_over_model_and_provider_alone() {
    let user = r#"
model = "m"
model_provider = "own"
sandbox_mode = "danger-full-access"
notify = ["sh", "-c", "x"]
profile = "loose"

[model_providers.own]
name = "own"
base_url = "http://127.0.0.1:1/v1"
env_key = "OWN_KEY"
auth = { command = "sh" }

[mcp_servers.x]
command = "sh"

[features]
shell_tool = true

[projects."/w"]
trust_level = "trusted"
"#;
    let files = observer_files(AgentId::CODEX, user, &hook()).unwrap().unwrap();
    let expected = "model = \"m\"\nmodel_provider = \"own\"\n\n[model_providers]\n\n[model_providers.own]\nname = \"own\"\n\
                    base_url = \"http://127.0.0.1:1/v1\"\nenv_key = \"OWN_KEY\"\n";
    let (got, expected): (toml_edit::DocumentMut, toml_edit::DocumentMut) =
        (files.config.1.parse().unwrap(), expected.parse().unwrap());
    let json = |of: toml_edit::DocumentMut| {
        let keys: Vec<String> =
            of.iter().map(|(key, value)| format!("{key}={}", value.to_string().trim())).collect();
        keys
    };
    assert_eq!(json(got), json(expected));
    assert_eq!(files.key_variables, ["OWN_KEY"]);
    assert!(files.hooks.1.contains("/b/castellan-hook"));
    assert!(observer_files(AgentId::CODEX, "model = ", &hook()).is_err());
    assert_eq!(observer_files(AgentId::CLAUDE, "", &hook()).unwrap(), None);
}

#[test]
fn a_session_id_can_be_part_of_a_path() {
    let check = |text: &str, expected| assert_eq!(is_session_id(text), expected, "{text}");
    check("03c7cbf5-469a-4ba3-a9e9-001b570b90da", true);
    check(&"a".repeat(SESSION_ID_BYTES_MAX), true);
    check(&"a".repeat(SESSION_ID_BYTES_MAX + 1), false);
    for text in ["", "..", "a/b", "a.b", "a b", "\u{e4}"] {
        check(text, false);
    }
}
