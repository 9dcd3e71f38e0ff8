//! A data file alone adds an agent. This test builds the crate with `invented/acme.toml` and runs itself there.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use std::process::Command;

use castellan_agents::{
    AgentId, HookCommand, Incoming, Message, Moment, Origin, agent_paths, ceiling, decode, encode, features,
    hook_table, inspect, is_headless, register,
};
use castellan_event::{AccessLevel, ToolKind, Verdict};
use serde_json::json;

/// The build's environment variable for a folder with more agents.
const MORE: &str = "CASTELLAN_MORE_AGENTS";

#[test]
fn an_invented_agent_is_added_by_a_data_file_alone() {
    if let Ok(agent) = "acme".parse::<AgentId>() {
        return is_whole(agent);
    }
    assert!(std::env::var_os(MORE).is_none(), "the crate was built without `{MORE}`");
    let crate_dir = env!("CARGO_MANIFEST_DIR");
    let done = Command::new(env!("CARGO"))
        .args(["test", "--locked", "--package", "castellan-agents", "--test", "invented"])
        .current_dir(crate_dir)
        .env(MORE, format!("{crate_dir}/tests/invented"))
        .env("CARGO_TARGET_DIR", format!("{}/invented", env!("CARGO_TARGET_TMPDIR")))
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&[done.stdout, done.stderr].concat()).into_owned();
    assert!(done.status.success() && said.contains("1 passed"), "{said}");
}

/// Checks everything that the data file sets.
fn is_whole(agent: AgentId) {
    assert_eq!(
        (agent.title(), AgentId::named("acme_agent"), AgentId::ALL.len()),
        ("Acme Agent", Some(agent), 5)
    );
    let decoded = |event: &str, payload: serde_json::Value| {
        decode(agent, event, payload.to_string().as_bytes(), &Origin::default()).unwrap()
    };
    let asked = json!({
        "session_id": "s", "cwd": "/w", "permission_mode": "careful", "hook_event_name": "BeforeStep",
        "tool_name": "sh", "tool_input": { "script": "ls", "detach": true },
    });
    let Incoming::Question(call) = decoded("BeforeStep", asked) else { panic!("no question") };
    assert_eq!(
        (call.tool.name.as_str(), call.tool.kind, call.in_background),
        ("Bash", ToolKind::Shell, true)
    );
    assert_eq!((call.command.as_deref(), call.problems.len()), (Some("ls"), 0));
    let said = json!({ "session_id": "s", "cwd": "/w", "hook_event_name": "Said", "words": "go" });
    let Incoming::Session(event) = decoded("Said", said) else { panic!("no session event") };
    assert_eq!((event.moment, event.text.as_str()), (Moment::Prompt, "go"));

    let reported = Message::new(Verdict::Ask, "why".to_owned());
    let reply = String::from_utf8(encode(agent, "BeforeStep", &reported).stdout).unwrap();
    assert!(reply.contains(r#""permissionDecision":"ask""#), "{reply}");

    let hook = HookCommand { program: "/bin/castellan-hook".to_owned(), home: "/h".to_owned() };
    let settings = register(agent, "", &hook).unwrap();
    let found = inspect(agent, &settings).unwrap();
    assert_eq!((found.ours.len(), found.missing.len()), (3, 0), "{settings}");

    assert!(hook_table().contains(r#"("acme", "Said", Mention, 2)"#), "{}", hook_table());
    assert!(is_headless(agent, Some(&["acme", "--batch"]), "careful"));
    assert_eq!(ceiling(agent, "careful"), AccessLevel::FullAccess);
    assert!(features(agent).asks && !features(agent).machine_wide);
    assert_eq!(
        agent_paths(agent).iter().map(|row| row.about).collect::<Vec<_>>(),
        ["configuration of Acme Agent"]
    );
}
